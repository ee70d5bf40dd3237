// package: @openai/agents
// The OpenAI Agents SDK on chat completions: the pair job as JSON, then a parent whose tool `delegate` is a reader agent
// of its own. Reads OPENAI_BASE_URL and OPENAI_API_KEY.
import { Agent, run, setOpenAIAPI, setTracingDisabled, tool } from '@openai/agents'
import { z } from 'zod'
import { delegateText, editorial, lookup, lookupText, model, mostTurns, pairJob, reader, system } from './glossary.mjs'

setTracingDisabled(true)
setOpenAIAPI('chat_completions')

const lookupTool = tool({
  name: 'lookup', description: lookupText, parameters: z.object({ word: z.string() }), execute: async (input) => lookup(input),
})
const readerAgent = new Agent({ name: 'reader', instructions: reader, model, tools: [lookupTool] })
const delegateTool = tool({
  name: 'delegate', description: delegateText, parameters: z.object({ brief: z.string() }),
  execute: async ({ brief }) => (await run(readerAgent, brief, { maxTurns: mostTurns })).finalOutput,
})
const explainer = new Agent({ name: 'explainer', instructions: system, model, tools: [lookupTool] })
const editor = new Agent({ name: 'editor', instructions: system, model, tools: [lookupTool, delegateTool] })

console.log('json:', (await run(explainer, pairJob('as JSON'), { maxTurns: mostTurns })).finalOutput)
const stream = await run(editor, editorial, { maxTurns: mostTurns, stream: true })
let text = ''
for await (const piece of stream.toTextStream()) text += piece
await stream.completed
console.log('stream:', text)
