import process from 'node:process'
import type Anthropic from '@anthropic-ai/sdk'
import { serverOf } from '../drivers/anthropic.ts'

const server = await serverOf({ id: 'toolu_1', name: 'now', args: {} })
// The server alone keeps no process alive.
server.unref()
process.on('exit', server.close)

export const client: Anthropic = server.client
