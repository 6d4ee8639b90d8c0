// What opm demands of a package's name: a DNS-1123 label. Other names are free.
import { quote } from '../../go/text.ts'

const longestLabel = 63
const longestSubdomain = 253
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
  "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

/** opm's text for a name it refuses; undefined for a good one. */
export function packageNameError(name: string): string | undefined {
  const problems: string[] = []
  if (new TextEncoder().encode(name).length > longestLabel) {
    problems.push(`must be no more than ${longestLabel} characters`)
  }
  // Far longer names are no labels in any case, and not worth a walk through the pattern.
  const short = name.length <= longestSubdomain * 4
  if (!label.test(name)) problems.push(short && subdomain.test(name) ? 'must not contain dots' : labelRule)
  return problems.length === 0 ? undefined : `invalid package name ${quote(name)}: [${problems.join(' ')}]`
}
