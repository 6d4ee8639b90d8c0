// opm requires package names to be DNS-1123 labels.
import { quote } from '../../go/text.ts'

const longestLabel = 63
const longestSubdomain = 253
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
  "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

/** Returns opm's error, or undefined for a valid name. */
export function packageNameError(name: string): string | undefined {
  const problems: string[] = []
  if (new TextEncoder().encode(name).length > longestLabel) {
    problems.push(`must be no more than ${longestLabel} characters`)
  }
  // Far longer names are invalid anyway; this bounds the cost of the pattern.
  const short = name.length <= longestSubdomain * 4
  if (!label.test(name)) problems.push(short && subdomain.test(name) ? 'must not contain dots' : labelRule)
  return problems.length === 0 ? undefined : `invalid package name ${quote(name)}: [${problems.join(' ')}]`
}
