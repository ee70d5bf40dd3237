// Helps .ci/clients:
//   node compare.mjs A.jsonl B.jsonl     exit 1 unless two transcripts are the same but for when and by what they were
//                                        recorded, and ids, which must differ by a one-to-one renaming
//   node compare.mjs --report R.json     the cells "agents | exchanges | grade | findings" of a replay's report
import { readFileSync } from 'node:fs'

// The ids a model server gives out, in the forms of the three wires.
const ids = /\b(?:call|chatcmpl|toolu|msg|resp|fc)[-_][0-9A-Za-z]+(?:_\d+)?/g

// plain gives the lines of a transcript with what differs from run to run taken out and the ids numbered in the order
// in which they appear.
function plain(file) {
  const names = new Map()
  const number = (id) => {
    if (!names.has(id)) names.set(id, `#${names.size + 1}`)
    return names.get(id)
  }
  return readFileSync(file, 'utf8').split('\n').filter((line) => line && JSON.parse(line).kind !== 'timing').map((line) => {
    const { recorded, by, env, sum, upstream, ...rest } = JSON.parse(line)
    return JSON.stringify(rest).replace(ids, number)
  })
}

function compare(a, b) {
  const [left, right] = [plain(a), plain(b)]
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    if (left[i] === right[i]) continue
    console.log(`line ${i + 1} differs:\n- ${left[i]}\n+ ${right[i]}`)
    return 1
  }
  return 0
}

function report(file) {
  const [result] = JSON.parse(readFileSync(file, 'utf8')).results
  const findings = (result.findings ?? []).map((each) => each.code)
  console.log([result.agents, result.exchanges, result.grade, [...new Set(findings)].join(', ') || 'none'].join(' | '))
  return 0
}

const [first, second] = process.argv.slice(2)
process.exitCode = first === '--report' ? report(second) : compare(first, second)
