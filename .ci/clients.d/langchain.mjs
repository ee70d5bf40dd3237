// package: @langchain/openai
// LangChain's ChatOpenAI: the pair job as JSON, then a parent with two children side by side as streams.
// Reads OPENAI_BASE_URL and OPENAI_API_KEY.
import { HumanMessage, SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import {
  delegateSchema, delegateText, editorial, endless, lookup, lookupSchema, lookupText, model, mostTurns, pairJob, reader, system,
} from './glossary.mjs'

const lookupTool = tool(async (input) => lookup(input), { name: 'lookup', description: lookupText, schema: lookupSchema })
const delegateTool = tool(({ brief }) => converse(reader, brief, [lookupTool], streamed), {
  name: 'delegate', description: delegateText, schema: delegateSchema,
})

const whole = (chat, messages) => chat.invoke(messages)
async function streamed(chat, messages) {
  let answer
  for await (const chunk of await chat.stream(messages)) answer = answer ? answer.concat(chunk) : chunk
  return answer
}

async function converse(instructions, prompt, tools, ask) {
  const chat = new ChatOpenAI({ model, streaming: ask === streamed }).bindTools(tools)
  const byName = Object.fromEntries(tools.map((each) => [each.name, each]))
  const messages = [new SystemMessage(instructions), new HumanMessage(prompt)]
  for (let turn = 0; turn < mostTurns; turn++) {
    const answer = await ask(chat, messages)
    messages.push(answer)
    if (!answer.tool_calls?.length) return answer.content
    messages.push(...await Promise.all(answer.tool_calls.map((call) => byName[call.name].invoke(call))))
  }
  endless(prompt)
}

console.log('json:', await converse(system, pairJob('as JSON'), [lookupTool], whole))
console.log('stream:', await converse(system, editorial, [lookupTool, delegateTool], streamed))
