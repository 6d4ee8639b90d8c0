// GitHub's OpenAPI document, and the validation functions of its schemas. Compiling them takes five seconds, so they are
// cached as a module below node_modules.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Ajv, ValidateFunction } from 'ajv'
import type formats from 'ajv-formats'
import type standalone from 'ajv/dist/standalone/index.js'
import { compileCacheDirectory } from '../../compile-cache.ts'

export type JsonSchema = Record<string, unknown>

interface OpenApiOperation {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: JsonSchema }[]
  readonly body?: { readonly required: boolean; readonly schema: JsonSchema | null }
  readonly responses: Readonly<Record<string, JsonSchema | null>>
}

export interface OpenApiDocument {
  readonly operations: Readonly<Record<string, OpenApiOperation>>
  readonly webhooks: Readonly<Record<string, JsonSchema>>
  readonly components: JsonSchema
}

const require = createRequire(import.meta.url)
const documentFile = new URL('github-openapi.json', import.meta.url)

export function readOpenApiDocument(): OpenApiDocument {
  return JSON.parse(readFileSync(documentFile, 'utf8')) as OpenApiDocument
}

/** By names such as `GET /user 200`, `GET /user ?page`, `POST /user request`, and `webhook push`. */
export function loadSchemaValidators(): ReadonlyMap<string, ValidateFunction> {
  const { version } = require('ajv/package.json') as { readonly version: string }
  const hash = createHash('sha256').update(version)
  for (const file of [documentFile, import.meta.filename]) hash.update(readFileSync(file))
  const file = join(compileCacheDirectory, `github-schemas-${hash.digest('hex').slice(0, 16)}.cjs`)
  const schemas = listSchemas(readOpenApiDocument())
  if (!existsSync(file)) {
    mkdirSync(compileCacheDirectory, { recursive: true })
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, compileSchemas(schemas.map(([, schema]) => schema)))
    renameSync(draft, file)
  }
  const validators = require(file) as Readonly<Record<string, ValidateFunction>>
  return new Map(schemas.map(([name], at) => [name, validators[`schema${at}`] as ValidateFunction]))
}

const listSchemas = ({ operations, webhooks }: OpenApiDocument) =>
  [
    ...Object.entries(operations).flatMap(([name, { parameters, body, responses }]) => [
      ...parameters.map((it) => [`${name} ?${it.name}`, it.schema] as const),
      [`${name} request`, body?.schema] as const,
      ...Object.entries(responses).map(([status, schema]) => [`${name} ${status}`, schema] as const),
    ]),
    ...Object.entries(webhooks).map(([name, schema]) => [`webhook ${name}`, schema] as const),
  ].flatMap(([name, schema]) => (schema ? [[name, schema] as const] : []))

/** Returns the source of a CommonJS module that exports the functions as `schema0` and so on. */
function compileSchemas(schemas: readonly JsonSchema[]): string {
  const library = require('ajv') as { readonly Ajv: typeof Ajv }
  const ajv = new library.Ajv({ strict: false, allErrors: true, inlineRefs: false, code: { source: true } })
  const addFormats = require('ajv-formats') as typeof formats
  addFormats.default(ajv, ['date-time', 'uri'])
  // Every number in JSON is a JavaScript number, a full name contains a slash, and a bot's address contains brackets.
  ajv.addFormat('email', /^[^@]+@[^@]+$/)
  ajv.addFormat('int64', true)
  ajv.addFormat('uri-template', true)
  ajv.addFormat('repo.nwo', /^[^/]+\/[^/]+$/)
  ajv.addSchema({ $id: 'github', components: readOpenApiDocument().components })
  for (const [at, schema] of schemas.entries())
    ajv.addSchema(resolveReferences(schema) as JsonSchema, `schema${at}`)
  const names = schemas.map((_, at) => [`schema${at}`, `schema${at}`] as const)
  const { default: write } = require('ajv/dist/standalone') as typeof standalone
  return write(ajv, Object.fromEntries(names))
}

function resolveReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(resolveReferences)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === '$ref' && typeof value === 'string' ? [key, `github${value}`] : [key, resolveReferences(value)],
    ),
  )
}
