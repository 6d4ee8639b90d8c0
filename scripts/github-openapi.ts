// Writes test/sandbox/github/github-openapi.json: what GitHub's own OpenAPI document says about the operations that the
// sandbox answers, both directions, and the webhooks that it sends. The document's package weighs 385 MB, so it is fetched into a temporary
// folder when this is run and is never a dependency. Run: node scripts/github-openapi.ts [UNPACKED_PACKAGE]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRestRoutes } from '../sandbox/github/github.ts'
import type { IssuedTokenStore } from '../sandbox/github/http/auth.ts'
import type { WebhookDispatcher } from '../sandbox/github/webhooks.ts'

const openapiPackageName = '@octokit/openapi@23.0.2'
const outputFile = join(import.meta.dirname, '..', 'test', 'sandbox', 'github', 'github-openapi.json')

// No route is called, so these are empty.
const sandboxOperations = createRestRoutes({} as IssuedTokenStore, {} as WebhookDispatcher).map(
  ({ method, template }) => `${method} ${template}`,
)

/** The webhooks that the sandbox sends. */
const actionsByEvent: Readonly<Record<string, readonly string[]>> = {
  branch_protection_rule: ['created', 'deleted', 'edited'],
  check_run: ['completed', 'created', 'requested_action', 'rerequested'],
  check_suite: ['completed', 'requested', 'rerequested'],
  deployment: ['created'],
  deployment_status: ['created'],
  installation: ['created', 'deleted', 'new_permissions_accepted', 'suspend', 'unsuspend'],
  installation_repositories: ['added', 'removed'],
  issue_comment: ['created', 'deleted', 'edited'],
  issues: ['closed', 'edited', 'opened', 'reopened'],
  merge_group: ['checks_requested', 'destroyed'],
  pull_request: [
    'closed',
    'converted_to_draft',
    'dequeued',
    'edited',
    'enqueued',
    'labeled',
    'opened',
    'ready_for_review',
    'reopened',
    'review_requested',
    'synchronize',
    'unlabeled',
  ],
  pull_request_review: ['dismissed', 'submitted'],
  pull_request_review_thread: ['resolved', 'unresolved'],
  repository: ['archived', 'unarchived'],
  repository_ruleset: ['created', 'deleted'],
  workflow_run: ['completed', 'in_progress', 'requested'],
}

/** `event.action`, or the event alone where it has no actions. */
const sandboxWebhooks: readonly string[] = [
  'push',
  'status',
  ...Object.entries(actionsByEvent).flatMap(([event, names]) => names.map((action) => `${event}.${action}`)),
]

type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }
type SchemaNode = { [key: string]: JsonValue }

// Prose and samples: nothing a validator reads. `title` and `format: repo.nwo` and the like stay harmless, titles go.
const descriptionKeys = new Set([
  'description',
  'example',
  'examples',
  'title',
  'summary',
  'externalDocs',
  'deprecated',
])

/** A schema without prose, with OpenAPI 3.0's `nullable` written as JSON Schema writes it. */
function stripDescriptions(node: JsonValue, insideProperties = false): JsonValue {
  if (Array.isArray(node)) return node.map((item) => stripDescriptions(item))
  if (node === null || typeof node !== 'object') return node
  const result: SchemaNode = {}
  for (const [key, value] of Object.entries(node)) {
    if (!insideProperties && (descriptionKeys.has(key) || key.startsWith('x-') || key === 'nullable'))
      continue
    const literal = !insideProperties && (key === 'enum' || key === 'default')
    result[key] = literal ? value : stripDescriptions(value, key === 'properties' && !insideProperties)
  }
  if (insideProperties || node['nullable'] !== true) return result
  if (typeof result['type'] !== 'string') return { anyOf: [{ type: 'null' }, result] }
  if (Array.isArray(result['enum']) && !result['enum'].includes(null))
    result['enum'] = [...result['enum'], null]
  return { ...result, type: [result['type'], 'null'] }
}

function main(unpacked: string): void {
  const text = readFileSync(join(unpacked, 'generated', 'api.github.com.json'), 'utf8')
  const document = JSON.parse(text) as {
    paths: Record<string, SchemaNode>
    info: { version: string }
  } & SchemaNode
  const resolve = (node: JsonValue): SchemaNode => {
    const reference = (node as SchemaNode)['$ref']
    if (typeof reference !== 'string') return node as SchemaNode
    let found: JsonValue = document
    for (const step of reference.slice(2).split('/')) found = (found as SchemaNode)[step] as JsonValue
    return resolve(found)
  }
  const jsonSchema = (holder: SchemaNode): JsonValue => {
    const content = (holder['content'] ?? {}) as SchemaNode
    const media = (content['application/json'] ?? content['application/scim+json']) as SchemaNode | undefined
    return media?.['schema'] === undefined ? null : stripDescriptions(media['schema'])
  }

  const operations: SchemaNode = {}
  for (const line of sandboxOperations) {
    const [method = '', path = ''] = line.split(' ')
    const operation = document.paths[path]?.[method.toLowerCase()] as SchemaNode | undefined
    if (operation === undefined) throw new Error(`GitHub's document has no ${line}`)
    const shared = (document.paths[path]?.['parameters'] ?? []) as JsonValue[]
    const body = operation['requestBody'] === undefined ? undefined : resolve(operation['requestBody'])
    operations[line] = {
      id: operation['operationId'] ?? null,
      parameters: [...shared, ...((operation['parameters'] ?? []) as JsonValue[])].map((parameter) => {
        const { name, in: parameterLocation, required, schema } = resolve(parameter)
        return {
          name: name ?? null,
          in: parameterLocation ?? null,
          required: required ?? false,
          schema: stripDescriptions(schema ?? {}),
        }
      }),
      ...(body === undefined
        ? {}
        : { body: { required: body['required'] ?? false, schema: jsonSchema(body) } }),
      responses: Object.fromEntries(
        Object.entries(operation['responses'] as SchemaNode).map(([status, response]) => [
          status,
          jsonSchema(resolve(response)),
        ]),
      ),
    }
  }

  const hooks = document['x-webhooks'] as Record<string, { post?: SchemaNode }>
  const webhooks: SchemaNode = {}
  for (const name of sandboxWebhooks) {
    const operation = hooks[name.replace(/[._]/g, '-')]?.post
    if (operation === undefined) throw new Error(`GitHub's document has no webhook ${name}`)
    webhooks[name] = jsonSchema(resolve(operation['requestBody'] ?? {}))
  }

  const schemas: SchemaNode = {}
  const collect = (node: JsonValue): void => {
    if (Array.isArray(node)) node.forEach(collect)
    else if (node !== null && typeof node === 'object') {
      const reference = node['$ref']
      if (typeof reference === 'string') {
        const name = reference.replace('#/components/schemas/', '')
        if (!(name in schemas)) {
          schemas[name] = {}
          schemas[name] = stripDescriptions(resolve(node))
          collect(schemas[name])
        }
      }
      Object.values(node).forEach(collect)
    }
  }
  collect(operations)
  collect(webhooks)

  // One operation or schema a line: small, and a new version still diffs readably.
  const lines = (entries: SchemaNode): string =>
    Object.keys(entries)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${JSON.stringify(entries[key])}`)
      .join(',\n')
  const output = `{"source":${JSON.stringify(`${openapiPackageName}, api.github.com ${document.info.version}`)},
"operations":{\n${lines(operations)}\n},
"webhooks":{\n${lines(webhooks)}\n},
"components":{"schemas":{\n${lines(schemas)}\n}}}\n`
  writeFileSync(outputFile, output)
  console.log(
    `${Object.keys(operations).length} operations, ${sandboxWebhooks.length} webhooks, ${Object.keys(schemas).length} schemas, ${output.length} characters`,
  )
}

const unpackedPackageFolder = process.argv[2]
if (unpackedPackageFolder !== undefined) main(unpackedPackageFolder)
else {
  const folder = mkdtempSync(join(tmpdir(), 'github-openapi-'))
  try {
    const archive = execFileSync('npm', ['pack', '--silent', openapiPackageName], {
      cwd: folder,
      encoding: 'utf8',
    }).trim()
    execFileSync('tar', ['xzf', archive], { cwd: folder })
    main(join(folder, 'package'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
