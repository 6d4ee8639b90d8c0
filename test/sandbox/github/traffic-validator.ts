// Compares the traffic of the sandbox's interfaces with GitHub's own OpenAPI document and GraphQL schema, in both
// directions: the client's parameters and bodies, and the sandbox's responses and webhooks. It reports, and never
// changes a response.
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { memoizeOnce } from '@catalog-bot/findings/memoize'
import type { GitHubTrafficValidator } from '../../../sandbox/github/github.ts'
import { validateGraphqlExchange } from './check-graphql.ts'

type JsonSchema = Record<string, unknown>

interface OpenApiOperation {
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: JsonSchema
  }[]
  readonly body?: { readonly required: boolean; readonly schema: JsonSchema | null }
  readonly responses: Readonly<Record<string, JsonSchema | null>>
}

interface OpenApiDocument {
  readonly operations: Readonly<Record<string, OpenApiOperation>>
  readonly webhooks: Readonly<Record<string, JsonSchema>>
  readonly components: JsonSchema
}

// Responses that GitHub gives for every operation, but its document lists only for some.
const undocumentedStatusCodes = new Set([304, 400, 401, 403, 404, 422, 429, 500])

/**
 * Where GitHub differs from its document. Deleted accounts and deleted forks are null, which the document declares for
 * lists but not for single pull requests. The list of installations requires an account to be a user and an enterprise
 * at once. An app's events may be newer than the document's list of them.
 */
function isKnownOpenApiDeviation(key: string, error: ErrorObject): boolean {
  if (key === 'GET /app/installations 200' && /^\/\d+\/account/.test(error.instancePath)) return true
  if (error.keyword === 'enum' && /\/(?:app|performed_via_github_app)\/events\/\d+$/.test(error.instancePath))
    return true
  return error.keyword === 'type' && /\/(user|head\/(repo|user))$/.test(error.instancePath)
}

export function readOpenApiDocument(): OpenApiDocument {
  return JSON.parse(readFileSync(new URL('github-openapi.json', import.meta.url), 'utf8')) as OpenApiDocument
}

/** One for all files of a worker: compiling the schemas takes most of its time, and it has no other state. */
export const getTrafficValidator = memoizeOnce((): GitHubTrafficValidator => {
  const document = readOpenApiDocument()
  const ajv = new Ajv({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } })
  formats.default(ajv, ['date-time', 'uri'])
  // Every number in JSON is a JavaScript number, a full name contains a slash, and a bot's address contains brackets.
  ajv.addFormat('email', /^[^@]+@[^@]+$/)
  ajv.addFormat('int64', true)
  ajv.addFormat('uri-template', true)
  ajv.addFormat('repo.nwo', /^[^/]+\/[^/]+$/)
  ajv.addSchema({ $id: 'github', components: document.components })
  const compiled = new Map<string, ValidateFunction>()
  const check = (key: string, schema: JsonSchema, value: unknown): string[] => {
    let validate = compiled.get(key)
    if (validate === undefined) {
      validate = ajv.compile(resolveJsonSchemaReferences(schema) as JsonSchema)
      compiled.set(key, validate)
    }
    if (validate(value) === true) return []
    const errors = (validate.errors ?? []).filter((it) => !isKnownOpenApiDeviation(key, it))
    return errors.map((it) => `${key}: ${it.instancePath || '/'} ${it.message ?? ''}`)
  }
  const checkWebhook: GitHubTrafficValidator['checkWebhook'] = (event, action, payload) => {
    const name = action === null ? event : `${event}.${action}`
    const schema = document.webhooks[name]
    // The sender chooses the action of a dispatch.
    if (schema === undefined)
      return event === 'repository_dispatch' ? [] : [`${name}: not in GitHub's document`]
    return check(`webhook ${name}`, schema, payload)
  }
  const checkExchange: GitHubTrafficValidator['checkExchange'] = (exchange) => {
    const { method, template, query, requestBody, status, responseBody } = exchange
    const name = `${method} ${template}`
    // GraphQL has a separate schema, and its only address is not part of REST.
    if (name === 'POST /graphql') return status === 200 ? [...validateGraphqlExchange(exchange)] : []
    const operation = document.operations[name]
    if (operation === undefined)
      return status === 404
        ? [`${name}: the sandbox has no such operation`]
        : [`${name}: not in GitHub's document`]
    const found: string[] = []
    const known = operation.parameters.filter((it) => it.in === 'query')
    for (const [key, value] of query) {
      const parameter = known.find((it) => it.name === key)
      if (parameter === undefined) found.push(`${name}: no query parameter ${key}`)
      else
        found.push(
          ...check(`${name} ?${key}`, parameter.schema, parseRequestParameter(value, parameter.schema)),
        )
    }
    // A rejected request was wrong on purpose, or is judged by its response.
    if (status < 400 && operation.body?.schema && (requestBody !== undefined || operation.body.required))
      found.push(
        ...check(`${name} request`, operation.body.schema, requestBody),
        ...findUndocumentedFields(name, operation.body.schema, requestBody),
      )
    if (!(status in operation.responses)) {
      if (!undocumentedStatusCodes.has(status)) found.push(`${name}: ${status} is not an answer of GitHub's`)
    } else {
      const schema = operation.responses[status]
      if (schema) found.push(...check(`${name} ${status}`, schema, responseBody))
      else if (responseBody !== undefined && status < 400)
        found.push(`${name} ${status}: a body where GitHub sends none`)
    }
    return found
  }
  return { checkExchange, checkWebhook }
})

function resolveJsonSchemaReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(resolveJsonSchemaReferences)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === '$ref' && typeof value === 'string'
        ? [key, `github${value}`]
        : [key, resolveJsonSchemaReferences(value)],
    ),
  )
}

/** GitHub ignores unknown fields, so a client that sends one has a bug. */
function findUndocumentedFields(name: string, schema: JsonSchema, body: unknown): string[] {
  const properties = schema['properties'] as JsonSchema | undefined
  if (
    properties === undefined ||
    'oneOf' in schema ||
    'anyOf' in schema ||
    typeof body !== 'object' ||
    body === null
  )
    return []
  return Object.keys(body)
    .filter((it) => !(it in properties))
    .map((it) => `${name} request: no field ${it}`)
}

function parseRequestParameter(value: string, schema: JsonSchema): unknown {
  if (schema['type'] === 'integer' && /^\d+$/.test(value)) return Number(value)
  if (schema['type'] === 'boolean') return value === 'true' ? true : value === 'false' ? false : value
  return value
}
