// Rules about what OperatorHub.io and consoles show.
import { defineBundleRule } from '../bundle-rule.ts'
import {
  getJsonFieldAtPath,
  getListAtPath,
  getObjectAtPath,
  getStringAtPath,
  listEntriesAtPath,
} from '../fields.ts'

const standardOperatorCategories: ReadonlySet<string> = new Set([
  'AI/Machine Learning',
  'Application Runtime',
  'Big Data',
  'Cloud Provider',
  'Database',
  'Developer Tools',
  'Integration & Delivery',
  'Logging & Tracing',
  'Modernization & Migration',
  'Monitoring',
  'Networking',
  'Observability',
  'OpenShift Optional',
  'Security',
  'Storage',
  'Streaming & Messaging',
])

export const unknownCategoryRule = defineBundleRule<{ category: string }>({
  id: 'unknown-category',
  severity: 'error',
  suite: 'categories',
  title: 'All categories are recognized by OperatorHub.io',
  what: ({ category }) => `OperatorHub.io has no category named "${category}"`,
  why: "Users who browse by category can't find the Operator.",
  fix: "Use one of the categories listed in this rule's documentation.",
  *find({ csv }) {
    const listed = getJsonFieldAtPath(csv.data, 'metadata', 'annotations', 'categories')
    if (typeof listed !== 'string') return
    for (const category of listed.split(',').map((name) => name.trim()))
      if (!standardOperatorCategories.has(category))
        yield { path: ['metadata', 'annotations', 'categories'], data: { category } }
  },
})

const capabilityLevels = [
  'Basic Install',
  'Seamless Upgrades',
  'Full Lifecycle',
  'Deep Insights',
  'Auto Pilot',
]

export const unknownCapabilityRule = defineBundleRule<{ capability: string }>({
  id: 'unknown-capability',
  severity: 'error',
  suite: 'capabilities',
  title: 'The capability level is one of the five standard levels',
  what: ({ capability }) => `"${capability}" is not a capability level`,
  why: 'OperatorHub.io rejects the bundle.',
  fix: 'Use Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights, or Auto Pilot.',
  *find({ csv }) {
    const capability = getJsonFieldAtPath(csv.data, 'metadata', 'annotations', 'capabilities')
    if (typeof capability === 'string' && !capabilityLevels.includes(capability))
      yield { path: ['metadata', 'annotations', 'capabilities'], data: { capability } }
  },
})

export const missingCsvFieldRule = defineBundleRule<{ field: string }>({
  id: 'missing-csv-field',
  severity: 'error',
  title: 'A ClusterServiceVersion has all required fields',
  what: ({ field }) => `the ClusterServiceVersion does not set ${field}`,
  why: 'The CRD for ClusterServiceVersions requires this field, so the API server rejects the object.',
  fix: ({ field }) => `Add ${field} to the ClusterServiceVersion.`,
  *find({ csv }) {
    for (const path of [['displayName'], ['install'], ['install', 'strategy']] as const) {
      const value = getJsonFieldAtPath(csv.data, 'spec', ...path)
      // If install is missing, don't also report its fields.
      if (path.length > 1 && getJsonFieldAtPath(csv.data, 'spec', 'install') === undefined) continue
      if (value === undefined || value === '')
        yield { path: ['spec'], data: { field: `spec.${path.join('.')}` } }
    }
    const strategy = getObjectAtPath(csv.data, 'spec', 'install', 'spec')
    if (Object.keys(strategy).length > 0 && (strategy.deployments ?? null) === null)
      yield { path: ['spec', 'install', 'spec'], data: { field: 'spec.install.spec.deployments' } }
  },
})

export const incompleteMaintainerRule = defineBundleRule<{ name: string; email: string }>({
  id: 'incomplete-maintainer',
  severity: 'error',
  suite: 'operatorhub',
  title: 'Every maintainer has a name and an email address',
  what: ({ name, email }) => `the maintainer "${name}" <${email}> needs a name and a valid email address`,
  why: "OperatorHub.io rejects the bundle, and users don't know whom to contact.",
  fix: 'Set the name and the email of each entry in spec.maintainers.',
  *find({ csv }) {
    for (const [path, entry] of listEntriesAtPath(csv.data, 'spec', 'maintainers')) {
      const [name, email] = [getStringAtPath(entry, 'name'), getStringAtPath(entry, 'email')]
      if (name === '' || !/^(?:[^<>@]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(email))
        yield { path, data: { name, email } }
    }
  },
})

export const incompleteLinkRule = defineBundleRule<{ name: string; url: string }>({
  id: 'incomplete-link',
  severity: 'error',
  suite: 'operatorhub',
  title: 'Every link has a name and a URL',
  what: ({ name, url }) => `the link "${name}" to "${url}" needs a name and an absolute URL`,
  why: 'OperatorHub.io rejects the bundle.',
  fix: 'Set the name and the url of each entry in spec.links.',
  *find({ csv }) {
    for (const [path, entry] of listEntriesAtPath(csv.data, 'spec', 'links')) {
      const [name, url] = [getStringAtPath(entry, 'name'), getStringAtPath(entry, 'url')]
      if (name === '' || !isRequestUri(url)) yield { path, data: { name, url } }
    }
  },
})

export const noProviderRule = defineBundleRule<Record<never, never>>({
  id: 'no-provider',
  severity: 'error',
  suite: 'operatorhub',
  title: 'A bundle names its provider',
  what: 'the bundle does not name its provider',
  why: 'OperatorHub.io rejects the bundle.',
  fix: 'Set spec.provider.name to the company or project that provides the Operator.',
  *find({ csv }) {
    if (getStringAtPath(csv.data, 'spec', 'provider', 'name').trim() === '')
      yield { path: ['spec', 'provider'], data: {} }
  },
})

export const brokenIconRule = defineBundleRule<{ problem: string }>({
  id: 'broken-icon',
  severity: 'error',
  suite: 'operatorhub',
  title: 'A bundle has one valid icon',
  what: ({ problem }) => `the icon can't be displayed: ${problem}`,
  why: 'OperatorHub.io rejects the bundle.',
  fix: 'Provide one icon with base64data and a mediatype of image/gif, image/jpeg, image/png, or image/svg+xml.',
  *find({ csv }) {
    const icons = getListAtPath(csv.data, 'spec', 'icon')
    const path = ['spec', 'icon']
    if (icons.length > 1) yield { path, data: { problem: `the bundle has ${icons.length} icons` } }
    for (const icon of icons.slice(0, 1)) {
      const mediaType = getStringAtPath(icon, 'mediatype')
      if (mediaType === '' || getStringAtPath(icon, 'base64data') === '')
        yield { path, data: { problem: 'base64data or mediatype is missing' } }
      else if (!/^image\/(?:gif|jpeg|png|svg\+xml)$/.test(mediaType))
        yield { path, data: { problem: `the media type "${mediaType}" is not supported` } }
    }
  },
})

export const noIconRule = defineBundleRule<Record<never, never>>({
  id: 'no-icon',
  severity: 'info',
  suite: 'operatorhub',
  title: 'A bundle has an icon',
  what: 'the bundle has no icon',
  why: 'Consoles show a generic placeholder icon.',
  fix: 'Set spec.icon to an image, with its base64data and mediatype.',
  *find({ csv }) {
    if (getListAtPath(csv.data, 'spec', 'icon').length === 0) yield { path: ['spec'], data: {} }
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
