import type { AnyTextAdapter } from '@tanstack/ai'
import { adapterOf } from '../drivers/tanstack.ts'

export const adapter: AnyTextAdapter = adapterOf([{ id: 'call_1', name: 'now', args: {} }]).adapter
