// Builds catalog facts for tests from the relevant fields. Positions count up, so each blob has another line.
import type {
  BundleBlob,
  Catalog,
  ChannelBlob,
  ChannelEntry,
  DeprecationBlob,
  PackageBlob,
  Property,
} from '../../../../packages/fbc/src/facts/catalog.ts'

let nextBlobLine = 0

function createNextBlobLocation(): PackageBlob['place'] {
  nextBlobLine += 10
  return {
    file: 'catalog.yaml',
    document: nextBlobLine / 10,
    start: 0,
    end: 0,
    line: nextBlobLine,
    column: 1,
  }
}

export function createPackageBlob(facts: Partial<PackageBlob> = {}): PackageBlob {
  return { place: createNextBlobLocation(), name: 'foo', defaultChannel: 'stable', description: '', ...facts }
}

/** Entries as text: `foo.v2 replaces foo.v1 skips a,b range >=1.0.0`. */
export function createChannelBlob(entries: readonly string[], facts: Partial<ChannelBlob> = {}): ChannelBlob {
  const at = createNextBlobLocation()
  return {
    place: at,
    name: 'stable',
    package: 'foo',
    entries: entries.map((text, index) => parseChannelEntry(text, at.line + 1 + index)),
    ...facts,
  }
}

export function parseChannelEntry(text: string, atLine = 1): ChannelEntry {
  const [, name = '', replaces = '', skips, skipRange = ''] =
    /^(.*?)(?: replaces (\S*))?(?: skips (\S*))?(?: range (.*))?$/.exec(text) ?? []
  return {
    mark: { line: atLine, column: 3 },
    name,
    replaces,
    skips: skips === undefined ? [] : skips.split(','),
    skipRange,
  }
}

/** A valid bundle of package foo: `aBundle('foo.v1', '1.0.0')`. */
export function createBundleBlob(name: string, version: string, facts: Partial<BundleBlob> = {}): BundleBlob {
  const at = createNextBlobLocation()
  return {
    place: at,
    name,
    package: 'foo',
    image: `quay.io/foo/bundle:${name}`,
    properties: [
      createBundleProperty('olm.package', { packageName: facts.package ?? 'foo', version }, at.line + 1),
    ],
    relatedImages: [],
    ...facts,
  }
}

export function createBundleProperty(type: string, value: Property['value'], atLine = 1): Property {
  return { mark: { line: atLine, column: 3 }, type, value }
}

/** Deprecations as `[schema, name, message]`. */
export function createDeprecationBlob(
  entries: readonly (readonly [schema: string, name: string, message: string])[],
  facts: Partial<DeprecationBlob> = {},
): DeprecationBlob {
  const at = createNextBlobLocation()
  return {
    place: at,
    package: 'foo',
    entries: entries.map(([schema, name, message], index) => ({
      mark: { line: at.line + 1 + index, column: 3 },
      schema,
      name,
      message,
    })),
    ...facts,
  }
}

export function createCatalog(facts: Partial<Catalog> = {}): Catalog {
  return {
    packages: [],
    channels: [],
    bundles: [],
    deprecations: [],
    others: [],
    loadErrors: [],
    findings: [],
    files: [],
    ...facts,
  }
}

/** A catalog of package foo with one channel, `stable`, and a valid bundle for each entry. */
export function createCatalogWithChannel(entries: readonly string[], more: Partial<Catalog> = {}): Catalog {
  const channel = createChannelBlob(entries)
  return createCatalog({
    packages: [createPackageBlob()],
    channels: [channel],
    bundles: channel.entries.map((entry, index) => createBundleBlob(entry.name, `1.${index}.0`)),
    ...more,
  })
}
