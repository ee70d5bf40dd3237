// package: openai
// The openai SDK on the Responses wire: the pair job as JSON, then a parent with two children side by side as streams.
// The conversation is sent whole each time (store: false). Reads OPENAI_BASE_URL and OPENAI_API_KEY.
import OpenAI from 'openai'
import {
  delegateSchema, delegateText, editorial, endless, lookup, lookupSchema, lookupText, model, mostTurns, pairJob, reader, system,
} from './glossary.mjs'

const client = new OpenAI()
const tool = (name, description, parameters) => ({ type: 'function', name, description, parameters, strict: true })
const childTools = [tool('lookup', lookupText, lookupSchema)]
const parentTools = [...childTools, tool('delegate', delegateText, delegateSchema)]

const whole = (request) => client.responses.create(request)
const streamed = (request) => client.responses.stream(request).finalResponse()

async function converse(instructions, prompt, tools, ask) {
  const handlers = { lookup, delegate: ({ brief }) => converse(reader, brief, childTools, ask) }
  const input = [{ role: 'user', content: prompt }]
  for (let turn = 0; turn < mostTurns; turn++) {
    const response = await ask({ model, instructions, input, tools, store: false })
    // The SDK adds what it parsed to the items; a server refuses those keys.
    input.push(...response.output.map(({ parsed_arguments, ...item }) => item))
    const calls = response.output.filter((item) => item.type === 'function_call')
    if (!calls.length) return response.output_text
    input.push(...await Promise.all(calls.map(async (call) => (
      { type: 'function_call_output', call_id: call.call_id, output: await handlers[call.name](JSON.parse(call.arguments)) }
    ))))
  }
  endless(prompt)
}

console.log('json:', await converse(system, pairJob('as JSON'), childTools, whole))
console.log('stream:', await converse(system, editorial, parentTools, streamed))
