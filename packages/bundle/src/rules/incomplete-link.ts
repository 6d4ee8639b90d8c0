import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'

export const incompleteLink = defineRule<{ name: string; url: string }, BundleRuleSignature>({
  id: 'incomplete-link',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'Links have a name and a URL',
  format: ({ name, url }) => ({
    what: `the link "${name}" to "${url}" needs a name and an absolute URL`,
    why: 'OperatorHub.io rejects the bundle.',
    fix: 'Set name and url.',
  }),
  *find({ csv }) {
    for (const [index, entry] of asListOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'links')).entries()) {
      const [name, url] = [
        asStringOrEmpty(getJsonFieldAtPath(entry, 'name')),
        asStringOrEmpty(getJsonFieldAtPath(entry, 'url')),
      ]
      if (name === '' || !isRequestUri(url)) yield { path: ['spec', 'links', index], data: { name, url } }
    }
  },
})

/** Accepts the same strings as Go's url.ParseRequestURI: absolute URLs, and paths, which can contain spaces. */
function isRequestUri(text: string): boolean {
  if (text === '*') return true
  if (/[\u0000-\u001f\u007f]/.test(text)) return false
  const { scheme, rest = '' } = /^(?:(?<scheme>[a-z][a-z0-9+.-]*):)?(?<rest>.*)$/is.exec(text)?.groups ?? {}
  if (!rest.startsWith('/')) return scheme !== undefined
  const { host = '', path = '' } =
    (scheme !== undefined && rest.startsWith('//')
      ? /^\/\/(?<host>[^/?]*)(?<path>[^?]*)/s
      : /^(?<path>[^?]*)/s
    ).exec(rest)?.groups ?? {}
  return (
    /^(?:[^@]*@)?(?:\[[^\]]*\]|[^\s<>"[\]\\^`{|}#:%]*)(?::\d*)?$/.test(host) &&
    !/%(?![0-9a-f]{2})/i.test(path)
  )
}
