// What is measured in a process of its own: the reader of JSON text after the engine has optimized it.
import { parseJson } from '../../src/kernel/json/parse.ts'
import { processorTime } from '../_processor-time.ts'

const texts: Record<string, string> = {
  rows: JSON.stringify(Array.from({ length: 13_000 }, () => ({ k: 'key1', v: 1 }))),
  'escaped rows': JSON.stringify(Array.from({ length: 11_500 }, () => ({ k: 'key1\n', v: 1 }))),
  'colons before an escape': `{"k"${':'.repeat(240_000)}"\\n"}`,
}
const text = texts[process.argv[2]!]!
const valid = texts['rows']! // about as long as each of them

for (let count = 0; count < 5_000; count++) parseJson(`{"path":"a/${count}.txt","limit":${count},"all":true}`)
const read = await processorTime(() => {
  try {
    parseJson(text)
  } catch {
    // A refusal is an answer too.
  }
})
console.log(read / (await processorTime(() => JSON.parse(valid) as unknown)))
