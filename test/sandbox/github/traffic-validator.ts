// Compares the traffic of the sandbox's interfaces with GitHub's own OpenAPI document and GraphQL schema, in both
// directions: the client's parameters and bodies, and the sandbox's responses and webhooks. It reports, and never
// changes a response.
import type { ErrorObject } from 'ajv'
import { memoizeOnce } from '@catalog-bot/findings/memoize'
import type { GitHubTrafficValidator } from '../../../sandbox/github/github.ts'
import { validateGraphqlExchange } from './check-graphql.ts'
import { loadSchemaValidators, readOpenApiDocument, type JsonSchema } from './openapi-schemas.ts'

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

/** One for all files of a worker, because it has no state. */
export const getTrafficValidator = memoizeOnce((): GitHubTrafficValidator => {
  const document = readOpenApiDocument()
  const validators = loadSchemaValidators()
  const check = (key: string, value: unknown): string[] => {
    const validate = validators.get(key)
    if (validate === undefined) return [`${key}: not in GitHub's document`]
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
    return check(`webhook ${name}`, payload)
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
      else found.push(...check(`${name} ?${key}`, parseRequestParameter(value, parameter.schema)))
    }
    // A rejected request was wrong on purpose, or is judged by its response.
    if (status < 400 && operation.body?.schema && (requestBody !== undefined || operation.body.required))
      found.push(
        ...check(`${name} request`, requestBody),
        ...findUndocumentedFields(name, operation.body.schema, requestBody),
      )
    if (!(status in operation.responses)) {
      if (!undocumentedStatusCodes.has(status)) found.push(`${name}: ${status} is not an answer of GitHub's`)
    } else {
      const schema = operation.responses[status]
      if (schema) found.push(...check(`${name} ${status}`, responseBody))
      else if (responseBody !== undefined && status < 400)
        found.push(`${name} ${status}: a body where GitHub sends none`)
    }
    return found
  }
  return { checkExchange, checkWebhook }
})

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
