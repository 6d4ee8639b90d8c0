// Writes JSON schemas for kubeconform, which reject unknown fields: of every kind in Kubernetes' own OpenAPI document
// (api/openapi-spec/swagger.json of k8s.io/kubernetes), and of the CRD in a file. Usage: `node kubernetes-schemas.ts
// SWAGGER_JSON CRD_YAML DIRECTORY`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

interface OpenApiSchema {
  readonly format?: string
  readonly properties?: object
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[]
}

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

const [swaggerFile, crdFile, directory] = process.argv.slice(2)
if (swaggerFile === undefined || crdFile === undefined || directory === undefined)
  throw new Error('usage: node kubernetes-schemas.ts SWAGGER_JSON CRD_YAML DIRECTORY')
mkdirSync(directory, { recursive: true })

/** Quantities are strings in OpenAPI, but the API server accepts numbers, too. */
const isIntOrStringSchema = (key: string, { format }: OpenApiSchema) =>
  format === 'int-or-string' || key === 'io.k8s.apimachinery.pkg.api.resource.Quantity'

const toStrictSchema = (key: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const schema = value as OpenApiSchema
  if (isIntOrStringSchema(key, schema)) return { type: ['string', 'number'] }
  return typeof schema.properties === 'object' && !('additionalProperties' in schema)
    ? { ...schema, additionalProperties: false }
    : value
}
const parseJsonWithStrictSchemas = (text: string) => JSON.parse(text, toStrictSchema) as unknown

/** The file name that kubeconform looks for, such as `statefulset-apps-v1.json`. */
function writeKubernetesSchema({ group, version, kind }: GroupVersionKind, schema: object): void {
  const parts = [kind, ...(group === '' ? [] : [group.split('.')[0]]), version]
  writeFileSync(join(directory ?? '', `${parts.join('-').toLowerCase()}.json`), JSON.stringify(schema))
}

const { definitions } = parseJsonWithStrictSchemas(readFileSync(swaggerFile, 'utf8')) as {
  readonly definitions: Readonly<Record<string, OpenApiSchema>>
}
writeFileSync(join(directory, 'definitions.json'), JSON.stringify({ definitions }))
for (const [name, { 'x-kubernetes-group-version-kind': kinds = [] }] of Object.entries(definitions))
  for (const kind of kinds) writeKubernetesSchema(kind, { $ref: `definitions.json#/definitions/${name}` })

const { spec } = parseJsonWithStrictSchemas(JSON.stringify(parse(readFileSync(crdFile, 'utf8')))) as {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly schema: { openAPIV3Schema: object } }[]
  }
}
for (const { name, schema } of spec.versions)
  writeKubernetesSchema({ group: spec.group, version: name, kind: spec.names.kind }, schema.openAPIV3Schema)
