// What all the client scripts share: one tool that answers from a table, and the texts of two jobs.
const entries = {
  root: 'root-entry: the part of a tree from which all else grows',
  leaf: 'leaf-entry: the part of a tree from which nothing grows',
  tape: 'tape-entry: a strip that keeps what was said to it',
  tree: 'tree-entry: a thing that branches and never meets itself again',
}

export const lookup = ({ word }) => entries[word] ?? `Error: ${word} has no entry`

export const model = process.env.OPENAI_MODEL ?? 'scripted'
export const system = 'You explain words. Use the tools for every word.'
export const reader = 'You read one entry of the glossary and report.'
export const pairJob = (how) => `PAIR-JOB ${how}: what do root and leaf mean, and moss?`
export const editorial = 'EDITORIAL: what is the difference between a tape and a tree?'

export const lookupSchema = {
  type: 'object',
  properties: { word: { type: 'string', description: 'one word, in lower case' } },
  required: ['word'],
  additionalProperties: false,
}
export const delegateSchema = {
  type: 'object',
  properties: { brief: { type: 'string', description: 'all that the reader must know' } },
  required: ['brief'],
  additionalProperties: false,
}
export const lookupText = 'Gives the entry of a word.'
export const delegateText = 'Lets a reader with a conversation of its own do a job and gives its report.'

// A conversation that does not end in this many turns has gone wrong.
export const mostTurns = 8
export const endless = (who) => {
  throw new Error(`${who} did not finish in ${mostTurns} turns`)
}
