#!/usr/bin/env node
import { constants } from 'node:os'
import process from 'node:process'
import { note, printText, thrownMessage, type Host } from './host.ts'
import { main } from './main.ts'

const { stdin, stdout, stderr } = process

// Only the answer goes to stdout. What tools print there, as with `console.log`, goes to stderr.
const writeStdout: Host['stdout']['write'] = stdout.write.bind(stdout)
stdout.write = stderr.write.bind(stderr)

// The callback of `write` reports a reader that has gone away.
stdout.on('error', () => {})
stderr.on('error', () => {})

const controller = new AbortController()
let endSignal: 'SIGINT' | 'SIGTERM' | undefined
let isCalling = false

const host: Host = {
  stdin,
  stderr,
  stdout: { isTTY: stdout.isTTY, write: writeStdout },
  get signal() {
    // From the first call on, one interruption still prints the reply. A second one ends the process at once.
    isCalling = true
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
    return controller.signal
  },
}

function interrupt(signal: 'SIGINT' | 'SIGTERM'): void {
  endSignal = signal
  controller.abort(new Error(`interrupted by ${signal}`))
}

// A tool may throw outside its call, such as in a timer. The calls continue.
process.on('uncaughtException', (error) => note(host, `an error was thrown outside any call: ${thrownMessage(error)}`))

process.once('beforeExit', () => {
  if (!isCalling) {
    note(host, 'the module never finished loading: it waits for something that cannot happen.')
    process.exit(2)
  }
  note(host, 'the calls wait for something that cannot happen: they are cancelled.')
  controller.abort()
})

void main(process.argv.slice(2), host).then(async (code) => {
  await printText(stderr, '')
  process.exit(endSignal === undefined ? code : 128 + constants.signals[endSignal])
})
