// A graph whose records and checkpoints are files: one process asks, and the next answers.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { deserialize, serialize } from 'node:v8'
import { interrupt, MemorySaver } from '@langchain/langgraph'
import { executorOn } from './_tools.ts'
import { graphOf, toolsOf } from './drivers/langgraph.ts'

const { file, answer } = JSON.parse(process.argv[2] ?? '') as { readonly file: string; readonly answer?: object }
const saver = new MemorySaver()
const kept = `${file}.checkpoints`
if (existsSync(kept)) Object.assign(saver, deserialize(readFileSync(kept)))

const executor = executorOn(file)
const calls = [5, 500].map((cents) => ({ id: `c${cents}`, name: 'pay', args: { cents } }))
const graph = graphOf(toolsOf(executor, { interrupt }), calls, saver)
const turn = await (answer === undefined ? graph.start() : graph.resume(answer))
writeFileSync(kept, serialize({ storage: saver.storage, writes: saver.writes }))
await executor.close()
console.log(JSON.stringify(turn))
