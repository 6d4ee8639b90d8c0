// CustomResourceDefinitions with random schemas that differ in only a few fields.
import fc from '../../../seeded.ts'
import type { JsonObject } from '../../../../packages/bundle/src/fields.ts'

const textArbitrary = fc.constantFrom('a', 'b', '<&>')
const leafSchemaArbitrary = fc.record(
  {
    type: fc.constantFrom('string', 'string', 'integer'),
    description: textArbitrary,
    default: fc.constantFrom('a', 'b', { b: 1, a: '<' }),
    enum: fc.subarray(['a', 'b', 'c'], { minLength: 1 }),
    maximum: fc.constantFrom(1, 2.5, 1e21),
    minimum: fc.constantFrom(1, 2.5),
    maxLength: fc.constantFrom(3, 1_000_000),
    minItems: fc.constantFrom(1, 2),
    pattern: fc.constantFrom('^a$', ''),
    nullable: fc.boolean(),
    format: fc.constantFrom('date', ''),
    title: textArbitrary,
    oneOf: fc.subarray([{ required: ['a'] }, { required: ['b'], description: 'x' }]),
    anyOf: fc.subarray([{ required: ['a'] }, { required: ['b'] }]),
    'x-kubernetes-preserve-unknown-fields': fc.boolean(),
    additionalProperties: fc.constantFrom({ type: 'string' }, { type: 'string', description: 'y' }, true),
    items: fc.constantFrom({ type: 'string' }, { type: 'integer', description: 'z' }),
  },
  { requiredKeys: ['type'] },
)
/** Most properties have few fields. */
const propertySchemaArbitrary = fc.oneof(fc.constant({ type: 'string' }), leafSchemaArbitrary)

const schemaArbitrary = fc
  .record({
    properties: fc.record(
      { a: propertySchemaArbitrary, b: propertySchemaArbitrary, c: propertySchemaArbitrary },
      { requiredKeys: ['a'] },
    ),
    required: fc.subarray(['a', 'b', 'c']),
  })
  .map((spec) => ({ type: 'object', properties: { spec: { type: 'object', ...spec } } }))

const createCrdVersionArbitrary = (name: string) =>
  fc
    .record({ served: fc.boolean(), schema: schemaArbitrary })
    .map(({ served, schema: openAPIV3Schema }) => ({
      ...{ name, served, storage: name === 'v1' },
      schema: { openAPIV3Schema },
    }))

/** The storage version is `v1` if it exists. */
export const crdArbitrary: fc.Arbitrary<JsonObject> = fc
  .record({
    versions: fc
      .tuple(
        createCrdVersionArbitrary('v1'),
        createCrdVersionArbitrary('v1beta1'),
        createCrdVersionArbitrary('v2'),
      )
      .chain((all) => fc.subarray(all, { minLength: 1 })),
    scope: fc.constantFrom('Namespaced', 'Namespaced', 'Namespaced', 'Cluster'),
    strategy: fc.constantFrom('None', 'None', 'Webhook'),
  })
  .map(({ versions, scope, strategy }) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'foos.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'foos', kind: 'Foo' },
      ...{ scope, versions },
      conversion: { strategy },
    },
    status: { storedVersions: ['v1'] },
  }))
