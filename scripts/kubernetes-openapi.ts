// Makes src/bundle/kubernetes/openapi.ts of the OpenAPI document that Kubernetes publishes with each release
// (https://github.com/kubernetes/kubernetes, api/openapi-spec/swagger.json): the schemas of every kind that somebody can
// create, and of what these are made of, without the prose.
// `node scripts/kubernetes-openapi.ts SWAGGER_JSON RELEASE`, with a copy of that file.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
}

interface Document {
  readonly definitions: Readonly<Record<string, Schema>>
}

/** Groups that a cluster offers and that nobody brings objects of: reviews, events, what controllers talk about. */
const leftOut =
  /^io\.k8s\.api\.(?:authentication|authorization|events|internal|apiserverinternal|coordination|discovery|storagemigration)\./

const [source, release] = process.argv.slice(2)
if (source === undefined || release === undefined)
  throw new Error('usage: node scripts/kubernetes-openapi.ts SWAGGER_JSON RELEASE')
const { definitions } = JSON.parse(readFileSync(source, 'utf8')) as Document

const kinds: Record<string, string> = {}
for (const [name, { properties, 'x-kubernetes-group-version-kind': of }] of Object.entries(definitions)) {
  const [only, ...more] = of ?? []
  // A list is unpacked before it is looked at; what is of many kinds (DeleteOptions) is no object.
  if (!only || more.length > 0 || !properties?.['metadata'] || properties['items']) continue
  if (leftOut.test(name) || !/^v\d+$/.test(only.version)) continue
  kinds[`${only.group === '' ? '' : `${only.group}/`}${only.version} ${only.kind}`] = shortName(name)
}

const kept: Record<string, unknown> = {}
const waiting = Object.values(kinds)
for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
  if (name in kept) continue
  const full = Object.keys(definitions).find((one) => shortName(one) === name) ?? name
  kept[name] = trimmed(definitions[full] ?? {})
}

function shortName(name: string): string {
  return name.replace(
    /^io\.k8s\.(?:api\.|apimachinery\.pkg\.(?:apis\.)?|apiextensions-apiserver\.pkg\.apis\.|kube-aggregator\.pkg\.apis\.)/,
    '',
  )
}

/** A schema in few letters: a text is the name of a definition, or of a type behind a colon. */
function trimmed({ $ref, type, format, properties, required, items, additionalProperties }: Schema): unknown {
  if ($ref?.endsWith('.api.resource.Quantity') === true) return ':quantity'
  if ($ref !== undefined) {
    const name = shortName($ref.replace('#/definitions/', ''))
    waiting.push(name)
    return name
  }
  if (items) return [trimmed(items)]
  if (properties) {
    const fields = Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [
        required?.includes(name) === true ? `${name}*` : name,
        trimmed(one),
      ]),
    )
    return { fields }
  }
  if (additionalProperties) return { values: trimmed(additionalProperties) }
  return `:${format ?? type ?? 'any'}`
}

const target = join(import.meta.dirname, '../src/bundle/kubernetes/openapi.ts')
const sorted = Object.fromEntries(Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1)))
const text = JSON.stringify({ kinds, definitions: sorted })
writeFileSync(
  target,
  `// Kubernetes ${release}: the schemas of its OpenAPI document, api/openapi-spec/swagger.json (Apache-2.0), trimmed.
// Made by scripts/kubernetes-openapi.ts: run that for another release, never edit this. A text, so that it is read when
// somebody asks for a schema and not before.
/* prettier-ignore */
${'export'} const openapi = ${JSON.stringify(text).replaceAll("'", "\\'").replace(/^"|"$/g, "'").replaceAll('\\"', '"')}
`,
)
console.log(
  `${Object.keys(kinds).length} kinds, ${Object.keys(kept).length} definitions, ${text.length} bytes`,
)
