// Reads YAML settings against a schema and locates every problem.
import { LineCounter, parseAllDocuments, type Document } from 'yaml'
import type { z } from 'zod'
import { findDuplicateYamlKey } from '../../config/repeated-key.ts'
import type { Location } from '@catalog-bot/findings/finding'
import type { PackageSettingsFile } from './package-sources.ts'

export interface SettingsReadResult<T> {
  /** Absent if the file is invalid. */
  readonly value?: T
  readonly problems: readonly { readonly at: Location; readonly problem: string }[]
  /** Keys that the schema does not define. The other values remain usable. */
  readonly unknown: readonly { readonly at: Location; readonly key: string; readonly path: string }[]
  /** The location of a value, or of its nearest existing parent. */
  readonly locationOf: (path: SettingsKeyPath) => Location
}

type SettingsKeyPath = readonly (string | number)[]

/** If `isYaml` is false, there is exactly one problem. */
export function parsePackageSettings<T>(
  { path: file, text }: PackageSettingsFile,
  schema: z.ZodType<T>,
): SettingsReadResult<T> & { readonly isYaml: boolean } {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false })
  const [document, ...more] = Array.isArray(documents) ? documents : []
  const toLocation = (offset: number): Location => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const locationOf = (path: SettingsKeyPath) => toLocation(findKeyPathOffset(document, path))
  const unreadable = (offset: number, problem: string) => ({
    isYaml: false,
    problems: [{ at: toLocation(offset), problem }],
    unknown: [],
    locationOf,
  })
  if (more.length > 0) return unreadable(more[0]?.range[0] ?? 0, 'it contains more than one document')
  const [error] = document?.errors ?? []
  if (error) return unreadable(error.pos[0], error.message.split('\n')[0] ?? 'it is not valid YAML')
  const repeated = document && (findDuplicateYamlKey(document) as { range?: readonly number[] } | undefined)
  if (repeated !== undefined) return unreadable(repeated.range?.[0] ?? 0, 'it contains a duplicate key')
  let data: unknown
  try {
    data = document?.toJS({ maxAliasCount: 0 }) ?? {}
  } catch {
    return unreadable(0, 'it uses an alias')
  }
  const unknown: { at: Location; key: string; path: string }[] = []
  const problems: { at: Location; problem: string }[] = []
  const { success, data: value, error: parseError } = schema.safeParse(data)
  for (const issue of parseError?.issues ?? []) {
    const path = issue.path.filter((part): part is string | number => typeof part !== 'symbol')
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys)
        unknown.push({ at: locationOf([...path, key]), key, path: [...path, key].join('.') })
    else problems.push({ at: locationOf(path), problem: `${path.join('.') || 'the file'}: ${issue.message}` })
  }
  return {
    isYaml: true,
    problems,
    unknown,
    locationOf,
    // The rest is read despite unknown keys.
    ...(success
      ? { value }
      : problems.length === 0 && {
          value: schema.parse(omitUnrecognizedKeys(data, parseError?.issues ?? [])),
        }),
  }
}

function omitUnrecognizedKeys(data: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(data))
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue
    let holder: unknown = copy
    for (const step of issue.path) holder = (holder as Record<PropertyKey, unknown>)[step]
    for (const key of issue.keys) delete (holder as Record<string, unknown>)[key]
  }
  return copy
}

function findKeyPathOffset(document: Document.Parsed | undefined, path: SettingsKeyPath): number {
  for (let depth = path.length; depth > 0; depth--) {
    const above = document?.getIn(path.slice(0, depth - 1), true) as
      { items?: readonly { key?: { value?: unknown; range?: readonly number[] } }[] } | undefined
    const holder = depth === 1 ? document?.contents : above
    const items = (holder as typeof above)?.items
    // Points to the key, because its value may begin on another line.
    const key = items?.find((item) => item.key?.value === path[depth - 1])?.key
    if (key?.range?.[0] !== undefined) return key.range[0]
    const node = document?.getIn(path.slice(0, depth), true) as { range?: readonly number[] } | undefined
    if (node?.range?.[0] !== undefined) return node.range[0]
  }
  return 0
}
