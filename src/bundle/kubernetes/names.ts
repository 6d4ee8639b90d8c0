// Names as Kubernetes takes them: `IsDNS1123Subdomain` and its like in k8s.io/apimachinery.

const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const label1035 = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/
const word = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/

/** Lower-case words between dots, at most 253 characters. */
export function isSubdomain(text: string): boolean {
  return text.length <= 253 && subdomain.test(text)
}

/** One lower-case word that begins with a letter, at most 63 characters. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && label1035.test(text)
}

/** The key of a label: `name` or `example.com/name`. Annotations may have capital letters before the slash, too. */
export function isQualifiedName(text: string): boolean {
  const [first = '', second, ...more] = text.split('/')
  if (more.length > 0) return false
  const name = second ?? first
  return (second === undefined || isSubdomain(first)) && name.length <= 63 && word.test(name)
}

/** The value of a label. */
export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && word.test(text))
}
