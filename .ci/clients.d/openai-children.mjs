// package: openai
// The openai SDK on chat completions, streamed: a parent whose tool `delegate` runs a child with a conversation of its
// own; the children of one turn run side by side. Reads OPENAI_BASE_URL and OPENAI_API_KEY.
import OpenAI from 'openai'
import {
  delegateSchema, delegateText, editorial, endless, lookup, lookupSchema, lookupText, model, mostTurns, reader, system,
} from './glossary.mjs'

const client = new OpenAI()
const tool = (name, description, parameters) => ({ type: 'function', function: { name, description, parameters } })
const childTools = [tool('lookup', lookupText, lookupSchema)]
const parentTools = [...childTools, tool('delegate', delegateText, delegateSchema)]
const handlers = { lookup, delegate: ({ brief }) => converse(reader, brief, childTools) }

async function converse(instructions, prompt, tools) {
  const messages = [{ role: 'system', content: instructions }, { role: 'user', content: prompt }]
  for (let turn = 0; turn < mostTurns; turn++) {
    const stream = client.chat.completions.stream({ model, messages, tools })
    const { message } = (await stream.finalChatCompletion()).choices[0]
    messages.push(message)
    if (!message.tool_calls?.length) return message.content
    messages.push(...await Promise.all(message.tool_calls.map(async ({ id, function: { name, arguments: text } }) => (
      { role: 'tool', tool_call_id: id, content: await handlers[name](JSON.parse(text)) }
    ))))
  }
  endless(prompt)
}

console.log('answer:', await converse(system, editorial, parentTools))
