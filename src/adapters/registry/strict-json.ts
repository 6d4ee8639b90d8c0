// Parses JSON by a schema. Go ignores the case of keys and uses the last duplicate. Others use the first or the exact
// match, so one digest could mean two images. Rejects such documents.
import { z } from 'zod'
import { RegistryError } from './registry-error.ts'

// Go's limit is 10,000. Registry documents need six.
const maxJsonDepth = 100

/**
 * An object whose fields are all optional, and null counts as absent, as in Go. Other keys are kept. Rejects a key that
 * Go takes for a field of the schema.
 */
export function goObject<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = new Map(Object.keys(shape).map((name) => [foldJsonKeyCase(name), name]))
  return z.preprocess((value, context) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    for (const key of Object.keys(value)) {
      const name = names.get(foldJsonKeyCase(key)) ?? key
      if (name !== key)
        context.addIssue(`only some clients read the key ${quoteJsonKey(key)} as ${quoteJsonKey(name)}`)
    }
    return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null))
  }, z.looseObject(shape).partial())
}

/** Throws a RegistryError `bad-reply` for invalid or ambiguous JSON, or for a document that the schema rejects. */
export function parseStrictJson<Schema extends z.ZodType>(
  body: Uint8Array,
  schema: Schema,
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(parseUnambiguousJson(body))
  if (success) return data
  const [issue] = error.issues
  const path = (issue?.path ?? []).filter((part) => typeof part === 'string').join('.')
  if (issue?.code === 'custom') throw createInvalidResponseError(issue.message)
  throw createInvalidResponseError(
    path === '' ? 'the document is not a JSON object' : `the field ${quoteJsonKey(path)} has the wrong type`,
  )
}

/** The document, in which a number that Go doesn't parse as an integer is a symbol. */
function parseUnambiguousJson(body: Uint8Array): unknown {
  try {
    // JSON has no byte order mark, and Go rejects it.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    const document = parseJson(text, mayRejectValuePattern.test(text) ? reviveUnambiguousValue : undefined)
    rejectAmbiguousStructure(text)
    return document
  } catch (cause) {
    if (cause instanceof RegistryError) throw cause
    throw new RegistryError('bad-reply', 'the document is not valid JSON', { cause })
  }
}

/**
 * Matches each text that `reviveUnambiguousValue` would reject or change, and some others: escapes, `__proto__`, and numbers
 * that are negative zeros, not integers, or long. Reviving takes longer than the rest of the parsing.
 */
const mayRejectValuePattern = /\\|__proto__|(?:^|[\s[,]|":)(?:-0|-?\d+[.eE]|-?\d{16})/

// TypeScript's library lacks the third argument.
const parseJson = JSON.parse as (text: string, revive: typeof reviveUnambiguousValue | undefined) => unknown

function reviveUnambiguousValue(key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  // Go replaces a lone surrogate with another character.
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed()))
    throw createInvalidResponseError('the document contains a lone surrogate')
  // zod's records skip this key.
  if (key === '__proto__') throw createInvalidResponseError('the document contains the key "__proto__"')
  if (typeof value !== 'number') return value
  // Go rejects numbers that overflow a float.
  if (!Number.isFinite(value))
    throw createInvalidResponseError(`the number ${quoteJsonKey(source)} is too large`)
  // Go does not parse 1.0 and 1e3 as integers. -0 equals 0 elsewhere.
  return /^-?(?:0|[1-9]\d*)$/.test(source) ? value + 0 : Symbol(source)
}

/** The text is valid JSON. */
function rejectAmbiguousStructure(text: string): void {
  const open: Set<string>[] = []
  for (const [token, quoted = '', colon] of text.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[[\]{}]/g)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    if (open.length > maxJsonDepth)
      throw createInvalidResponseError(`the document is nested more than ${maxJsonDepth} levels deep`)
    if (colon === undefined) continue
    const key = JSON.parse(quoted) as string
    if (open.at(-1)?.has(key)) throw createInvalidResponseError(`the key ${quoteJsonKey(key)} appears twice`)
    open.at(-1)?.add(key)
  }
}

/** Folds keys as encoding/json does: the long s equals s, the Kelvin sign equals k. */
const foldJsonKeyCase = (key: string): string => key.toUpperCase().toLowerCase()

function quoteJsonKey(key: string): string {
  return JSON.stringify(key.length > 100 ? `${key.slice(0, 100)}…` : key)
}

export function createInvalidResponseError(message: string): RegistryError {
  return new RegistryError('bad-reply', message)
}
