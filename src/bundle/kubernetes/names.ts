// Kubernetes' name rules: `IsDNS1123Subdomain` and others in k8s.io/apimachinery.

const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const label1035 = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/
const word = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/

export function isSubdomain(text: string): boolean {
  return text.length <= 253 && subdomain.test(text)
}

export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && label1035.test(text)
}

/** A label key: `name` or `example.com/name`. Annotations also allow uppercase before the slash. */
export function isQualifiedName(text: string): boolean {
  const [first = '', second, ...more] = text.split('/')
  if (more.length > 0) return false
  const name = second ?? first
  return (second === undefined || isSubdomain(first)) && name.length <= 63 && word.test(name)
}

export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && word.test(text))
}
