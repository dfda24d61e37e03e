import { jsonSchema } from 'toolwright/validators/json-schema'
import { rawSchemas } from './_raw-schemas.ts'
import { validatorConformance } from './_suite.ts'

const traits = { fillsDefaults: false, unknownProperties: 'kept' } as const

validatorConformance('raw JSON Schema', { ...traits, ...rawSchemas })
validatorConformance('jsonSchema(schema)', {
  ...traits,
  order: jsonSchema(rawSchemas.order),
  ownProperty: jsonSchema(rawSchemas.ownProperty),
  closed: jsonSchema(rawSchemas.closed),
})
validatorConformance("jsonSchema(schema, { origin: 'wire' })", {
  ...traits,
  order: jsonSchema(rawSchemas.order, { origin: 'wire' }),
  ownProperty: jsonSchema(rawSchemas.ownProperty, { origin: 'wire' }),
  closed: jsonSchema(rawSchemas.closed, { origin: 'wire' }),
})
