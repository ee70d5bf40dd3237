// package: openai
// The openai SDK on chat completions: the same job as JSON and as a stream.
// Reads OPENAI_BASE_URL and OPENAI_API_KEY.
import OpenAI from 'openai'
import { endless, lookup, lookupSchema, lookupText, model, mostTurns, pairJob, system } from './glossary.mjs'

const client = new OpenAI()
const tools = [{ type: 'function', function: { name: 'lookup', description: lookupText, parameters: lookupSchema } }]

const whole = (request) => client.chat.completions.create(request)
const streamed = (request) =>
  client.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()

async function converse(prompt, ask) {
  const messages = [{ role: 'system', content: system }, { role: 'user', content: prompt }]
  for (let turn = 0; turn < mostTurns; turn++) {
    const { message } = (await ask({ model, messages, tools })).choices[0]
    messages.push(message)
    if (!message.tool_calls?.length) return message.content
    for (const call of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: call.id, content: lookup(JSON.parse(call.function.arguments)) })
  }
  endless(prompt)
}

console.log('models:', (await client.models.list()).data.map((each) => each.id).join(' '))
console.log('json:', await converse(pairJob('as JSON'), whole))
console.log('stream:', await converse(pairJob('as a stream'), streamed))
