import { FakeModel } from '../drivers/strands.ts'

export const model: FakeModel = new FakeModel([[{ id: 'tooluse_1', name: 'deploy', args: {} }]])
