// package: @anthropic-ai/sdk
// The Anthropic SDK on the Messages wire: the pair job as JSON, then a parent with two children side by side as streams.
// Reads ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY.
import Anthropic from '@anthropic-ai/sdk'
import {
  delegateSchema, delegateText, editorial, endless, lookup, lookupSchema, lookupText, model, mostTurns, pairJob, reader, system,
} from './glossary.mjs'

const client = new Anthropic()
const tool = (name, description, input_schema) => ({ name, description, input_schema })
const childTools = [tool('lookup', lookupText, lookupSchema)]
const parentTools = [...childTools, tool('delegate', delegateText, delegateSchema)]

const whole = (request) => client.messages.create(request)
const streamed = (request) => client.messages.stream(request).finalMessage()

async function converse(instructions, prompt, tools, ask) {
  const handlers = { lookup, delegate: ({ brief }) => converse(reader, brief, childTools, ask) }
  const messages = [{ role: 'user', content: prompt }]
  for (let turn = 0; turn < mostTurns; turn++) {
    const answer = await ask({ model, system: instructions, max_tokens: 1024, messages, tools })
    messages.push({ role: 'assistant', content: answer.content })
    const calls = answer.content.filter((block) => block.type === 'tool_use')
    if (!calls.length) return answer.content.map((block) => block.text).join('')
    messages.push({ role: 'user', content: await Promise.all(calls.map(async ({ id, name, input }) => (
      { type: 'tool_result', tool_use_id: id, content: await handlers[name](input) }
    ))) })
  }
  endless(prompt)
}

console.log('json:', await converse(system, pairJob('as JSON'), childTools, whole))
console.log('stream:', await converse(system, editorial, parentTools, streamed))
