import { Ajv2020 } from 'ajv/dist/2020.js'
import { ajv } from 'toolwright/validators/ajv'
import { rawSchemas } from './_raw-schemas.ts'
import { validatorConformance } from './_suite.ts'

const fromJson = ajv(new Ajv2020({ allErrors: true, ownProperties: true }))

validatorConformance('ajv(instance)', {
  order: fromJson(rawSchemas.order),
  ownProperty: fromJson(rawSchemas.ownProperty),
  closed: fromJson(rawSchemas.closed),
  fillsDefaults: false,
  unknownProperties: 'kept',
})
