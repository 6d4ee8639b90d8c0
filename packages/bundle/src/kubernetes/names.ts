// Kubernetes' name rules: `IsDNS1123Subdomain` and others in k8s.io/apimachinery.

const dnsSubdomainPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const dnsLabelPattern = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/
const labelValuePattern = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/

export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && dnsSubdomainPattern.test(text)
}

export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && dnsLabelPattern.test(text)
}

/** A label key: `name` or `example.com/name`. Annotations also allow uppercase before the slash. */
export function isQualifiedName(text: string): boolean {
  const [first = '', second, ...more] = text.split('/')
  if (more.length > 0) return false
  const name = second ?? first
  return (second === undefined || isDnsSubdomain(first)) && name.length <= 63 && labelValuePattern.test(name)
}

export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && labelValuePattern.test(text))
}
