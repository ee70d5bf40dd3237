package report

import (
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/tapetree/tapetree/golden"
)

// checkSARIF writes SARIF 2.1.0 (OASIS), the format of code scanning. Findings
// that are known are there too, as suppressed.
type checkSARIF struct {
	w       io.Writer
	o       CheckOptions
	rules   []sarifRule
	numbers map[string]int
	results []sarifResult
	notes   []sarifNote // files and places that could not be read
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitzero"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifInvocation struct {
	Successful    bool        `json:"executionSuccessful"`
	Notifications []sarifNote `json:"toolExecutionNotifications,omitempty"`
}

type sarifNote struct {
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
}

type sarifRule struct {
	ID      string    `json:"id"`
	Short   sarifText `json:"shortDescription"`
	Help    sarifText `json:"help"`
	HelpURI string    `json:"helpUri"`
	Default struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Suppressions []sarifSuppressed `json:"suppressions,omitempty"`
}

type sarifSuppressed struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitzero"`
	} `json:"physicalLocation"`
	Logical []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
}

// pages is where the findings are explained.
const pages = "https://github.com/tapetree/tapetree/blob/main/docs/findings.md"

// sarifLevels are the words of SARIF for ours.
var sarifLevels = map[string]string{"error": "error", "warning": "warning", "notice": "note"}

func (s *checkSARIF) File(f *CheckFile) error {
	if f.Error != "" {
		s.notes = append(s.notes, sarifNote{"error", sarifText{golden.Visible(f.Error)}, []sarifLocation{locate(f, 0, "")}})
	}
	for _, place := range f.Unread {
		s.notes = append(s.notes, sarifNote{"warning", sarifText{golden.Visible(place.Message)}, []sarifLocation{locate(f, place.Line, "")}})
	}
	for _, finding := range f.Findings {
		message := finding.Message
		if at := finding.At(); at != "" {
			message = at + ": " + message
		}
		result := sarifResult{
			RuleID: finding.Code, RuleIndex: s.rule(&finding), Level: sarifLevels[finding.Severity], Message: sarifText{golden.Visible(message)},
			Locations:    []sarifLocation{locate(f, max(finding.Line, 1), finding.At())},
			Fingerprints: map[string]string{"tapetree/v1": finding.Fingerprint},
		}
		if finding.Known != "" {
			result.Suppressions = []sarifSuppressed{{"external", golden.Visible(finding.Known)}}
		}
		s.results = append(s.results, result)
	}
	return nil
}

// rule returns the number of a finding's rule.
func (s *checkSARIF) rule(f *CheckFinding) int {
	if n, known := s.numbers[f.Code]; known {
		return n
	}
	meaning, remedy := s.o.Rule(f.Code)
	rule := sarifRule{ID: f.Code, Short: sarifText{meaning}, Help: sarifText{remedy}, HelpURI: pages + "#" + strings.ReplaceAll(f.Code, "/", "")}
	rule.Default.Level = sarifLevels[f.Severity]
	if s.numbers == nil {
		s.numbers = map[string]int{}
	}
	s.numbers[f.Code] = len(s.rules)
	s.rules = append(s.rules, rule)
	return s.numbers[f.Code]
}

func locate(f *CheckFile, line int, at string) sarifLocation {
	var l sarifLocation
	slashed := path.Clean(filepath.ToSlash(f.File))
	l.Physical.Artifact.URI = (&url.URL{Path: slashed}).String()
	if path.IsAbs(slashed) {
		l.Physical.Artifact.URI = (&url.URL{Scheme: "file", Path: slashed}).String()
	}
	if line > 0 {
		l.Physical.Region = &sarifRegion{line}
	}
	name := at
	if f.Part != "" {
		name = strings.TrimSpace(f.Part + " " + at)
	}
	if name != "" {
		l.Logical = []sarifLogical{{golden.Visible(name)}}
	}
	return l
}

func (s *checkSARIF) Close(c *Check) error {
	run := sarifRun{Invocations: []sarifInvocation{{c.Unreadable == 0, s.notes}}, Results: s.results}
	run.Tool.Driver = sarifDriver{Name: "tapetree", Version: s.o.Version, InformationURI: "https://github.com/tapetree/tapetree", Rules: s.rules}
	if run.Results == nil {
		run.Results = []sarifResult{}
	}
	if run.Tool.Driver.Rules == nil {
		run.Tool.Driver.Rules = []sarifRule{}
	}
	text, err := marshalled(sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}}, "")
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.w, text+"\n")
	return err
}
