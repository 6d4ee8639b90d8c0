// opm requires package names to be DNS-1123 labels.
import { quoteLikeGo } from '../go/text.ts'

const maxLabelLength = 63
const maxSubdomainLength = 253
const labelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const labelSyntaxError =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
  "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

/** Returns opm's error, or undefined for a valid name. */
export function findPackageNameError(name: string): string | undefined {
  const problems: string[] = []
  if (new TextEncoder().encode(name).length > maxLabelLength) {
    problems.push(`must be no more than ${maxLabelLength} characters`)
  }
  // Far longer names are invalid anyway; this bounds the cost of the pattern.
  const short = name.length <= maxSubdomainLength * 4
  if (!labelPattern.test(name))
    problems.push(short && subdomainPattern.test(name) ? 'must not contain dots' : labelSyntaxError)
  return problems.length === 0
    ? undefined
    : `invalid package name ${quoteLikeGo(name)}: [${problems.join(' ')}]`
}
