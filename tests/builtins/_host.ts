// Run by bubblewrap.test.ts in a process of its own, which is killed: a host with commands in the foreground and background.
import { bubblewrap } from 'toolwright/builtins/bubblewrap'
import { user } from '../servers/bubblewrap.ts'

const [root = '', mark = ''] = process.argv.slice(2)
const sandbox = await bubblewrap({ root, ...(user && { user }) })
const command = `setsid bash -c 'sleep 300; : ${mark}' & bash -c 'sleep 300; : ${mark}'`
for (let index = 0; index < 4; index++) await sandbox.execBackground(command)
void sandbox.exec(command)
setTimeout(() => console.log('ready'), 500)
