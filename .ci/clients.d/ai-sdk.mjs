// package: ai
// The Vercel AI SDK with an OpenAI-compatible provider: the pair job as JSON, then a parent with two children side by
// side as streams. The SDK itself reads no base URL for such a provider: this script passes OPENAI_BASE_URL and
// OPENAI_API_KEY on.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import {
  delegateSchema, delegateText, editorial, lookup, lookupSchema, lookupText, model, mostTurns, pairJob, reader, system,
} from './glossary.mjs'

const provider = createOpenAICompatible({
  name: 'compatible', baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY, includeUsage: true,
})
const settings = { model: provider(model), stopWhen: stepCountIs(mostTurns) }
const childTools = {
  lookup: tool({ description: lookupText, inputSchema: jsonSchema(lookupSchema), execute: async (input) => lookup(input) }),
}
const parentTools = {
  ...childTools,
  delegate: tool({ description: delegateText, inputSchema: jsonSchema(delegateSchema), execute: ({ brief }) => streamed(reader, brief, childTools) }),
}

const streamed = (instructions, prompt, tools) => streamText({ ...settings, system: instructions, prompt, tools }).text

const whole = await generateText({ ...settings, system, prompt: pairJob('as JSON'), tools: childTools })
console.log('json:', whole.text)
console.log('stream:', await streamed(system, editorial, parentTools))
