import { apiAnswers } from './cases/api-answers.ts'
import { apiCredentials } from './cases/api-credentials.ts'
import { apiDocuments } from './cases/api-documents.ts'
import { apiRequests } from './cases/api-requests.ts'
import { apiVolumes } from './cases/api-volumes.ts'
import { artifacts } from './cases/artifacts.ts'
import { calls } from './cases/calls.ts'
import { door } from './cases/door.ts'
import { files } from './cases/files.ts'
import { formats } from './cases/formats.ts'
import { hosts } from './cases/frameworks.ts'
import { imports } from './cases/imports.ts'
import { mcp, mcpServed } from './cases/mcp.ts'
import { realms } from './cases/realms.ts'
import { records } from './cases/records.ts'
import { validators } from './cases/validators.ts'
import type { Case } from './run.ts'

/** What has to hold on every platform. They import the package and its leaves by their public names, as a program does. */
export const cases: readonly Case[] = [
  ...door,
  ...validators,
  ...formats,
  ...calls,
  ...artifacts,
  ...records,
  ...hosts,
  ...imports,
  ...apiDocuments,
  ...apiRequests,
  ...apiCredentials,
  ...apiAnswers,
  ...apiVolumes,
  ...mcp,
  mcpServed,
  ...realms,
  ...files,
]
