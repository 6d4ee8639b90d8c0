// Makes src/bundle/kubernetes/openapi.ts of the OpenAPI document that Kubernetes publishes with each release
// (https://github.com/kubernetes/kubernetes, api/openapi-spec/swagger.json): the schemas of every kind that somebody can
// create, and of what these are made of, without the prose.
// `node scripts/kubernetes-openapi.ts SWAGGER_JSON RELEASE`, with a copy of that file.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface OpenApiSchema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly required?: readonly string[]
  readonly items?: OpenApiSchema
  readonly additionalProperties?: OpenApiSchema
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
}

interface OpenApiDocument {
  readonly definitions: Readonly<Record<string, OpenApiSchema>>
}

/** Groups that a cluster offers and that nobody brings objects of: reviews, events, what controllers talk about. */
const excludedGroupsPattern =
  /^io\.k8s\.api\.(?:authentication|authorization|events|internal|apiserverinternal|coordination|discovery|storagemigration)\./

const [source, release] = process.argv.slice(2)
if (source === undefined || release === undefined)
  throw new Error('usage: node scripts/kubernetes-openapi.ts SWAGGER_JSON RELEASE')
const { definitions } = JSON.parse(readFileSync(source, 'utf8')) as OpenApiDocument

const definitionByKind: Record<string, string> = {}
for (const [name, { properties, 'x-kubernetes-group-version-kind': of }] of Object.entries(definitions)) {
  const [only, ...more] = of ?? []
  // A list is unpacked before it is looked at; what is of many kinds (DeleteOptions) is no object.
  if (!only || more.length > 0 || !properties?.['metadata'] || properties['items']) continue
  if (excludedGroupsPattern.test(name) || !/^v\d+$/.test(only.version)) continue
  definitionByKind[`${only.group === '' ? '' : `${only.group}/`}${only.version} ${only.kind}`] =
    shortenName(name)
}

const keptDefinitions: Record<string, unknown> = {}
const pendingDefinitions = Object.values(definitionByKind)
for (let name = pendingDefinitions.pop(); name !== undefined; name = pendingDefinitions.pop()) {
  if (name in keptDefinitions) continue
  const full = Object.keys(definitions).find((one) => shortenName(one) === name) ?? name
  keptDefinitions[name] = compactSchema(definitions[full] ?? {})
}

function shortenName(name: string): string {
  return name.replace(
    /^io\.k8s\.(?:api\.|apimachinery\.pkg\.(?:apis\.)?|apiextensions-apiserver\.pkg\.apis\.|kube-aggregator\.pkg\.apis\.)/,
    '',
  )
}

/** A schema in few letters: a text is the name of a definition, or of a type behind a colon. */
function compactSchema({
  $ref,
  type,
  format,
  properties,
  required,
  items,
  additionalProperties,
}: OpenApiSchema): unknown {
  if ($ref?.endsWith('.api.resource.Quantity') === true) return ':quantity'
  if ($ref !== undefined) {
    const name = shortenName($ref.replace('#/definitions/', ''))
    pendingDefinitions.push(name)
    return name
  }
  if (items) return [compactSchema(items)]
  if (properties) {
    const fields = Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [
        required?.includes(name) === true ? `${name}*` : name,
        compactSchema(one),
      ]),
    )
    return { fields }
  }
  if (additionalProperties) return { values: compactSchema(additionalProperties) }
  return `:${format ?? type ?? 'any'}`
}

const outputFile = join(import.meta.dirname, '../src/bundle/kubernetes/openapi.ts')
const sortedDefinitions = Object.fromEntries(
  Object.entries(keptDefinitions).sort(([a], [b]) => (a < b ? -1 : 1)),
)
const outputText = JSON.stringify({ kinds: definitionByKind, definitions: sortedDefinitions })
writeFileSync(
  outputFile,
  `// Kubernetes ${release}: the schemas of its OpenAPI document, api/openapi-spec/swagger.json (Apache-2.0), trimmed.
// Made by scripts/kubernetes-openapi.ts: run that for another release, never edit this. A text, so that it is read when
// somebody asks for a schema and not before.
/* prettier-ignore */
${'export'} const openapi = ${JSON.stringify(outputText).replaceAll("'", "\\'").replace(/^"|"$/g, "'").replaceAll('\\"', '"')}
`,
)
console.log(
  `${Object.keys(definitionByKind).length} kinds, ${Object.keys(keptDefinitions).length} definitions, ${outputText.length} bytes`,
)
