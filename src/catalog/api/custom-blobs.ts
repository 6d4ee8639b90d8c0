// Blobs of schemas that opm does not know, which it keeps for those who ask for them by schema and package.
import { quote } from '../../go/text.ts'

const component = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/

/** opm keeps them under names that are safe in paths, and serves no catalog with others. Undefined where they are. */
export function customProblem(custom: {
  readonly schema: string
  readonly package: string
}): string | undefined {
  const found =
    componentProblem('schema', custom.schema) ??
    (custom.package === '' ? undefined : componentProblem('packageName', custom.package))
  return found && `invalid custom schema meta: ${found}`
}

/** Why a text is no part of a custom blob's key, in opm's words. */
export function componentProblem(field: string, text: string): string | undefined {
  if (text === '') return `invalid ${field}: must not be empty`
  return component.test(text) ? undefined : `invalid ${field} ${quote(text)}: must match ${component.source}`
}
