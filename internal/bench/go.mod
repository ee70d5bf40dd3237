module github.com/tapetree/tapetree/internal/bench

go 1.26.8

require github.com/tapetree/tapetree v0.0.0

require go.yaml.in/yaml/v3 v3.0.6 // indirect

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/gofrs/flock v0.13.2 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/sashabaranov/go-openai v1.43.0 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	gopkg.in/dnaeon/go-vcr.v4 v4.0.8
)

replace github.com/tapetree/tapetree => ../..
