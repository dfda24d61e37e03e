import { refused, same } from '../_assert.ts'
import type { Case } from '../run.ts'
import { bearer, documentOf, readyApi, shortly, type Json } from './_api.ts'

const baseUrl = 'https://api.example.com'

export const apiDocuments: readonly Case[] = [
  {
    name: 'imports: a faulty operation is left out and told, and the others have their tools',
    needs: ['web'],
    async run() {
      const chain = Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => [`C${at}`, { $ref: `#/components/parameters/C${at + 1}` }]),
      )
      const references = [
        'file:///etc/passwd',
        'https://evil.example/x',
        '#/../x',
        '#/__proto__',
        '#/components/parameters/Self',
        '#/components/parameters/C0',
      ]
      const faulty = references.map(($ref, index): [string, Json] => [`GET /bad${index}`, { parameters: [{ $ref }] }])
      const good = ['getPet', 'getpet', 'GetPet'].map((operationId, index): [string, Json] => [
        `GET /good${index}`,
        { operationId },
      ])
      const components = { parameters: { Self: { $ref: '#/components/parameters/Self' }, ...chain } }
      const { api, notes } = await readyApi(documentOf(Object.fromEntries([...faulty, ...good]), { components }), {
        baseUrl,
      })
      same(
        api.omitted.map(({ operation }) => operation),
        references.map((_, index) => `GET /bad${index}`),
      )
      same([notes.length, api.tools().length, api.operations.length], [references.length, 3, 3])
      const names = api.tools().map(({ name }) => name)
      same([names[0], new Set(names.map((name) => name.toLowerCase())).size], ['getPet', 3])
    },
  },
  {
    name: 'imports: what is no document, and options that name nothing, are refused',
    needs: ['web'],
    async run() {
      const { openapiTools } = await import('toolwright/imports/openapi')
      const document = documentOf({ 'GET /p': { operationId: 'get' } })
      const attempts: readonly (readonly [document: string | object, options: object])[] = [
        [{ swagger: '2.0' }, {}],
        [{}, {}],
        [[], {}],
        ['{"openapi": "3.1.0", ', {}],
        [`{"openapi":"3.1.0","info":"${'x'.repeat(2_000)}"}`, { limits: { document: 1_000 } }],
        [document, {}],
        [document, { baseUrl, only: ['none'] }],
        [document, { baseUrl, auth: { none: () => 'p455word-1' } }],
        [{ ...document, ...bearer }, { auth: { token: () => 'p455word-1' } }],
        [
          { ...document, ...bearer },
          { baseUrl: 'http://api.example.com', auth: { token: () => 'p455word-1' } },
        ],
        [document, { baseUrl, fixed: { none: 1 } }],
        [document, { baseUrl, unknown: 1 }],
      ]
      for (const [made, options] of attempts)
        same(await refused(() => openapiTools(made, options)), 'E_INVALID_CONFIGURATION', JSON.stringify(options))
    },
  },
  {
    name: 'imports: a document leads to no private host, in any spelling',
    needs: ['web'],
    async run() {
      const { openapiTools } = await import('toolwright/imports/openapi')
      const hosts = [
        // Twelve spellings of this machine
        '127.0.0.1',
        '127.1',
        '0x7f.1',
        '2130706433',
        '017700000001',
        '0177.0.0.1',
        '[::1]',
        '[0:0:0:0:0:0:0:1]',
        '[::ffff:127.0.0.1]',
        '[::ffff:7f00:1]',
        'localhost',
        'LOCALHOST.',
        // and other private ones
        'a.local',
        'intranet',
        '10.0.0.1',
        '169.254.169.254',
        '[fd00::1]',
        '100.64.0.1',
        '192.168.1.1',
      ]
      const servedBy = (host: string): Json =>
        documentOf({ 'GET /p': { operationId: 'get' } }, { servers: [{ url: `https://${host}/` }] })
      for (const host of hosts) {
        same(await refused(() => openapiTools(servedBy(host))), 'E_INVALID_CONFIGURATION', host)
        const sent: string[] = []
        const server = async (url: unknown): Promise<Response> => {
          sent.push(String(url))
          return new Response(null, { status: 302, headers: { location: `https://${host}/` } })
        }
        const { call } = await readyApi(servedBy('93.184.215.14'), { fetch: server })
        same(
          [
            shortly(await call('get'))
              .split(' ')
              .slice(0, 2),
            sent.length,
          ],
          [['error', 'none'], 1],
          host,
        )
      }
    },
  },
]
