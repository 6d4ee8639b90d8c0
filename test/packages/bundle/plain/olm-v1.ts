// OLM v1 as a program that renders bundles and checks upgrades, if it was built from test/bundle/plain/olm-v1, and the
// comparison of its objects with ours.
import { spawnSync } from 'node:child_process'
import type { Json } from '../../../../packages/fbc/src/go/json/json.ts'
import type { PlainManifestRenderOptions } from '../../../../packages/bundle/src/plain/rendering.ts'

/** Built with `go build -o DIRECTORY/olm-v1-answers .` in the folder of the module. */
export const olmV1Program = 'olm-v1-answers'

export type OlmV1Request =
  | ({ readonly directory: string } & PlainManifestRenderOptions)
  | { readonly old: readonly Json[]; readonly new: readonly Json[] }

export interface OlmV1Response {
  readonly objects: readonly Json[] | null
  readonly error: string
}

/** All answers, from one process. */
export function queryOlmV1(questions: readonly OlmV1Request[]): readonly OlmV1Response[] {
  const { stdout, status, stderr } = spawnSync(olmV1Program, {
    input: questions.map((question) => `${JSON.stringify(question)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  if (status !== 0) throw new Error(`${olmV1Program} ended with ${status}: ${stderr}`)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as OlmV1Response)
}

/**
 * The path at which two values differ, or undefined if they are equivalent in Kubernetes. Go prints structs that are empty,
 * and omits fields that are empty, so an empty value on one side may be absent on the other.
 */
export function findJsonDifference(
  ours: Json | undefined,
  theirs: Json | undefined,
  path = '',
): string | undefined {
  if (isJsonObject(ours) && isJsonObject(theirs)) {
    for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      const found = findJsonDifference(ours[key], theirs[key], `${path}.${key}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    for (const [index, item] of ours.entries()) {
      const found = findJsonDifference(item as Json, theirs[index] as Json, `${path}[${index}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  // Go prints a zero quantity that is not a pointer, of which a pod has one.
  if (ours === undefined && theirs === '0' && path.endsWith('.resourceFieldRef.divisor')) return undefined
  // Fields that Go omits if they are 0 or false are omitted by us, too.
  if (isNullOrUndefined(theirs) && (ours === 0 || ours === false))
    return `${path}: ours ${formatJsonExcerpt(ours)}, theirs ${formatJsonExcerpt(theirs)}`
  if (
    ours === theirs ||
    (isEmptyJsonValue(ours) &&
      isEmptyJsonValue(theirs) &&
      (isNullOrUndefined(ours) || isNullOrUndefined(theirs)))
  )
    return undefined
  return `${path}: ours ${formatJsonExcerpt(ours)}, theirs ${formatJsonExcerpt(theirs)}`
}

function isJsonObject(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNullOrUndefined(value: Json | undefined): boolean {
  return value === undefined || value === null
}

function isEmptyJsonValue(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.values(value).every(isEmptyJsonValue)
}

function formatJsonExcerpt(value: Json | undefined): string {
  return JSON.stringify(value)?.slice(0, 200) ?? 'absent'
}

/** Sorts objects in an order that does not depend on the random map order of Go. */
export function sortKubernetesObjects(objects: readonly Json[]): readonly Json[] {
  const key = (object: Json) => {
    const { kind = '', metadata = {} } = isJsonObject(object) ? object : {}
    const { name = '', namespace = '' } = isJsonObject(metadata) ? metadata : {}
    return JSON.stringify([kind, namespace, name])
  }
  return [...objects].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}
