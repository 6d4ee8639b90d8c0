// Catalogs and Subscriptions in the notation of tests, one item per line:
//   foo/stable 1.1.0 replaces 1.0.0 skips 0.9.0,0.8.0 range "<1.1.0"     an entry; its bundle is foo.v1.1.0
//   foo default fast                                                     default: the first channel in the list
//   foo 1.1.0 gives Red, foo 1.1.0 needs Red/v1                          APIs of example.com, v1 by default
//   foo 1.1.0 needs bar ">=1.0.0"                                        a package
//   foo 1.1.0 label gold, needs label gold, constraint {...}, property certified true, deprecated
//   @second 5                                                            the following lines are another catalog, priority 5
// and `foo/stable`, `foo` for any channel, `foo/stable starting 1.0.0`, `foo/stable has 1.0.0`, `... in second`.
import type { Json } from '../../../packages/fbc/src/go/json/json.ts'
import type { ResolutionProblem } from './random-problem.ts'

interface ParsedBundle {
  readonly package: string
  readonly version: string
  readonly properties: { type: string; value: Json }[]
}

interface ParsedCatalog {
  readonly name: string
  readonly priority: number
  readonly defaults: Map<string, string>
  readonly channels: Map<string, { package: string; name: string; entries: Record<string, Json>[] }>
  readonly bundles: Map<string, ParsedBundle>
}

export function parseResolutionProblem(
  lines: readonly string[],
  subscriptions: readonly string[],
): ResolutionProblem {
  const catalogs: ParsedCatalog[] = []
  const installed: ResolutionProblem['installed'][number][] = []
  const newCatalog = (name: string, priority: number) =>
    catalogs.push({ name, priority, defaults: new Map(), channels: new Map(), bundles: new Map() })
  if (lines[0]?.startsWith('@') !== true) newCatalog('first', 0)
  for (const line of lines) {
    const [first = '', second = '', ...rest] = line.split(' ')
    if (first.startsWith('@')) newCatalog(first.slice(1), Number(second || '0'))
    else parseCatalogLine(catalogs.at(-1) as ParsedCatalog, first, second, rest)
  }
  const written = subscriptions.flatMap((text, index) => {
    const [target = '', ...words] = text.split(' ')
    const [packageName = '', channel = ''] = target.split('/')
    const after = (word: string) => (words.includes(word) ? (words[words.indexOf(word) + 1] ?? '') : '')
    const has = after('has')
    const source = after('in') || (catalogs[0]?.name ?? '')
    const name = `sub${index}`
    if (has !== '' || words.includes('unsubscribed')) {
      const version = has || after('unsubscribed')
      const bundle = catalogs.map(({ bundles }) => bundles.get(`${packageName} ${version}`)).find(Boolean)
      installed.push({
        name: `${packageName}.v${version}`,
        version,
        package: packageName,
        properties: bundle?.properties ?? [{ type: 'olm.package', value: { packageName, version } }],
        subscription: has === '' ? '' : name,
      })
      if (has === '') return []
    }
    const starting = after('starting')
    return [
      {
        name,
        package: packageName,
        channel,
        catalog: source,
        startingCsv: starting === '' ? '' : `${packageName}.v${starting}`,
        installedCsv: has === '' ? '' : `${packageName}.v${has}`,
      },
    ]
  })
  return {
    catalogs: catalogs.map((catalog) => ({
      name: catalog.name,
      priority: catalog.priority,
      blobs: toCatalogBlobs(catalog),
    })),
    installed,
    subscriptions: written,
  }
}

/** The blobs of one catalog, written as above. */
export function parseCatalogBlobsFromLines(lines: readonly string[]): readonly Json[] {
  return parseResolutionProblem(lines, []).catalogs[0]?.blobs ?? []
}

function parseCatalogLine(
  catalog: ParsedCatalog,
  first: string,
  second: string,
  rest: readonly string[],
): void {
  const [packageName = '', channel] = first.split('/')
  if (second === 'default') return void catalog.defaults.set(packageName, rest[0] ?? '')
  const bundle = findOrAddBundle(catalog, packageName, second)
  if (channel === undefined) return void bundle.properties.push(parseBundleProperty(rest))
  const own = catalog.channels.get(first) ?? { package: packageName, name: channel, entries: [] }
  catalog.channels.set(first, own)
  if (!catalog.defaults.has(packageName)) catalog.defaults.set(packageName, channel)
  const after = (word: string) => (rest.includes(word) ? (rest[rest.indexOf(word) + 1] ?? '') : '')
  const named = (version: string) => `${packageName}.v${version}`
  const range = /range "([^"]*)"/.exec(rest.join(' '))?.[1]
  own.entries.push({
    name: named(second),
    ...(rest.includes('replaces') && { replaces: named(after('replaces')) }),
    ...(rest.includes('skips') && { skips: after('skips').split(',').map(named) }),
    ...(range !== undefined && { skipRange: range }),
  })
}

function findOrAddBundle(catalog: ParsedCatalog, packageName: string, version: string): ParsedBundle {
  const key = `${packageName} ${version}`
  const known = catalog.bundles.get(key)
  if (known) return known
  const properties = [{ type: 'olm.package', value: { packageName, version } }]
  const made: ParsedBundle = { package: packageName, version, properties }
  catalog.bundles.set(key, made)
  return made
}

function parseBundleProperty(words: readonly string[]): { type: string; value: Json } {
  const [verb = '', what = '', ...rest] = words
  const text = rest.join(' ')
  const api = () => {
    const [kind = '', version = 'v1'] = what.split('/')
    return { group: 'example.com', version, kind }
  }
  switch (verb) {
    case 'gives':
      return { type: 'olm.gvk', value: api() }
    case 'label':
      return { type: 'olm.label', value: { label: what } }
    case 'deprecated':
      return { type: 'olm.deprecated', value: {} }
    case 'constraint':
      return { type: 'olm.constraint', value: JSON.parse([what, ...rest].join(' ')) as Json }
    case 'property':
      return { type: what, value: JSON.parse(text) as Json }
    case 'needs': {
      if (what === 'label') return { type: 'olm.label.required', value: { label: text } }
      const range = /^"([^"]*)"$/.exec(text)?.[1]
      if (range === undefined) return { type: 'olm.gvk.required', value: api() }
      return { type: 'olm.package.required', value: { packageName: what, versionRange: range } }
    }
    default:
      throw new Error(`no line of a catalog says "${verb}"`)
  }
}

function toCatalogBlobs({ defaults, channels, bundles }: ParsedCatalog): readonly Json[] {
  return [
    ...[...defaults].map(([name, defaultChannel]) => ({ schema: 'olm.package', name, defaultChannel })),
    ...[...channels.values()].map((channel) => ({ schema: 'olm.channel', ...channel })),
    ...[...bundles.values()].map(({ package: packageName, version, properties }) => ({
      schema: 'olm.bundle',
      name: `${packageName}.v${version}`,
      package: packageName,
      image: `registry.example/${packageName}:${version}`,
      properties,
    })),
  ]
}
