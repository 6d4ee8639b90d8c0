// Blobs with custom schemas, which opm serves by schema and package.
import { quoteLikeGo } from '../go/text.ts'

const pathComponentPattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/

/** opm uses these names in paths and rejects unsafe names. Returns undefined if they are safe. */
export function findCustomBlobProblem(custom: {
  readonly schema: string
  readonly package: string
}): string | undefined {
  const found =
    findPathComponentProblem('schema', custom.schema) ??
    (custom.package === '' ? undefined : findPathComponentProblem('packageName', custom.package))
  return found && `invalid custom schema meta: ${found}`
}

/** Returns opm's error for an unsafe key component. */
export function findPathComponentProblem(field: string, text: string): string | undefined {
  if (text === '') return `invalid ${field}: must not be empty`
  return pathComponentPattern.test(text)
    ? undefined
    : `invalid ${field} ${quoteLikeGo(text)}: must match ${pathComponentPattern.source}`
}
