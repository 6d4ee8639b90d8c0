// Ten small catalogs with unusual content for a cache, and the digests by opm v1.73.0 (files 0644, directories 0755).

export interface CachedCatalogCase {
  readonly why: string
  readonly files: Readonly<Record<string, string>>
  readonly digest: string
}

const toJson = (value: unknown) => JSON.stringify(value)
const toBase64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64')

function createBundleJson(version: string, more: readonly object[] = [], blob: object = {}): string {
  const properties = [{ type: 'olm.package', value: { packageName: 'foo', version } }, ...more]
  return toJson({
    schema: 'olm.bundle',
    name: `foo.v${version}`,
    package: 'foo',
    image: `quay.io/o/foo:v${version.replace('+', '-')}`,
    properties,
    ...blob,
  })
}
function createCatalogJson(of: object, channels: readonly object[], ...others: readonly string[]): string {
  return [
    toJson({ schema: 'olm.package', name: 'foo', defaultChannel: 'stable', ...of }),
    ...channels.map((channel) => toJson({ schema: 'olm.channel', package: 'foo', ...channel })),
    ...others,
  ].join('\n')
}
const createStableChannel = (...entries: readonly object[]) => ({ name: 'stable', entries })
const singleEntryChannel = createStableChannel({ name: 'foo.v1.0.0' })
const fooCsv = {
  kind: 'ClusterServiceVersion',
  apiVersion: 'operators.coreos.com/v1alpha1',
  metadata: { name: 'foo' },
}
const createBundleObjectProperty = (data: string | Uint8Array) => ({
  type: 'olm.bundle.object',
  value: { data: toBase64(data) },
})
const createCsvMetadataProperty = (value: object) => ({ type: 'olm.csv.metadata', value })

export const cachedCatalogCases: readonly CachedCatalogCase[] = [
  {
    why: 'the least that there can be; the digest begins with zeros',
    files: {
      'catalog.json': createCatalogJson(
        { description: 'the seed is 263' },
        [singleEntryChannel],
        createBundleJson('1.0.0'),
      ),
    },
    digest: '003957a53ad1934d',
  },
  {
    why: 'channels that share bundles, skips that are empty or missing, a skipRange, dependencies',
    files: {
      'catalog.json': createCatalogJson(
        {},
        [
          createStableChannel(
            { name: 'foo.v1.0.0', skips: [] },
            { name: 'foo.v1.1.0', replaces: 'foo.v1.0.0', skips: ['foo.v0.9.0'], skipRange: '<1.1.0' },
          ),
          { name: 'a/b'.replace('/', '-'), entries: [{ name: 'foo.v1.1.0' }] },
        ],
        createBundleJson('1.0.0', [{ type: 'olm.gvk', value: { group: 'g', kind: 'K', version: 'v1' } }]),
        createBundleJson('1.1.0', [
          { type: 'olm.package.required', value: { packageName: 'bar', versionRange: '>=1.0 <2' } },
          { type: 'olm.gvk.required', value: { version: 'v1', kind: 'K', group: 'g' } },
          { type: 'olm.constraint', value: { failureMessage: '<&>', cel: { rule: 'true' } } },
        ]),
      ),
    },
    digest: 'd9c96dae7494dc06',
  },
  {
    why: 'a stub CSV with everything that csv.metadata can say',
    files: {
      'catalog.json': createCatalogJson(
        {
          description: 'From the package',
          icon: { base64data: toBase64('<svg/>'), mediatype: 'image/svg+xml' },
        },
        [singleEntryChannel],
        createBundleJson(
          '1.0.0',
          [
            createCsvMetadataProperty({
              annotations: { b: '<b>&\u2028', a: 'x'.repeat(400), '€': '\u0001\b\f' },
              labels: { l: '' },
              apiServiceDefinitions: {
                owned: [{ name: 'n', group: 'g', version: 'v', kind: 'K', containerPort: 5 }],
              },
              crdDescriptions: {
                owned: [
                  {
                    name: 'n',
                    version: 'v1',
                    kind: 'K',
                    displayName: 'D',
                    resources: [{ kind: 'Pod' }],
                    specDescriptors: [{ path: 'p', 'x-descriptors': ['<x>'], value: { b: 1.5, a: '<' } }],
                  },
                ],
                required: [{ name: 'r', version: 'v1', kind: 'R' }],
              },
              displayName: 'Foo',
              installModes: [{ type: 'OwnNamespace', supported: true }],
              keywords: ['k'],
              links: [{ url: 'u' }],
              maintainers: [{ email: 'e' }],
              maturity: 'alpha',
              minKubeVersion: '1.20.0',
              nativeAPIs: [{ kind: 'Pod' }],
              provider: { name: 'P' },
            }),
          ],
          { relatedImages: [{ name: '', image: 'quay.io/o/foo:v1.0.0' }] },
        ),
      ),
    },
    digest: '22f5a4f6d4d405ce',
  },
  {
    why: 'manifests in JSON and in YAML, one of them the CSV',
    files: {
      'catalog.json': createCatalogJson(
        {},
        [singleEntryChannel],
        createBundleJson('1.0.0', [
          createBundleObjectProperty(' {"kind":"ConfigMap","n":1.0,"t":"<&>"}'),
          createBundleObjectProperty(
            'kind: ClusterServiceVersion\nmetadata: {name: foo}\nspec: {b: 1.0, a: "<", n: 12345678901234567890}\n',
          ),
          createBundleObjectProperty(toJson(fooCsv)),
        ]),
      ),
    },
    digest: '4d72b96b84b10aa0',
  },
  {
    why: 'CSVs that a reader of YAML cannot read, and one that follows',
    files: {
      'catalog.json': createCatalogJson(
        {},
        [singleEntryChannel],
        createBundleJson('1.0.0', [
          createBundleObjectProperty('{"kind":\t"ClusterServiceVersion","a":"\\ud83d\\ude00"}'),
          createBundleObjectProperty(toJson({ ...fooCsv, a: '\u007f' })),
          createBundleObjectProperty(toJson({ ...fooCsv, b: 'second' })),
        ]),
      ),
    },
    digest: '31e448d2efea8dcc',
  },
  {
    why: 'a manifest with bytes that are no characters, and both kinds of description',
    files: {
      'catalog.json': createCatalogJson(
        {},
        [singleEntryChannel],
        createBundleJson('1.0.0', [
          createBundleObjectProperty(
            Uint8Array.of(...Buffer.from('{"kind":"Secret","a":"'), 0xff, 0xc3, ...Buffer.from('\ufffd"}')),
          ),
          createCsvMetadataProperty({ displayName: 'Foo' }),
        ]),
      ),
    },
    digest: '4a86924f3eb093fa',
  },
  {
    why: 'deprecations of all three kinds',
    files: {
      'catalog.json': createCatalogJson(
        { icon: {} },
        [createStableChannel({ name: 'foo.v1.0.0' }, { name: 'foo.v1.1.0', replaces: 'foo.v1.0.0' })],
        createBundleJson('1.0.0'),
        createBundleJson('1.1.0', [createCsvMetadataProperty({})]),
        toJson({
          schema: 'olm.deprecations',
          package: 'foo',
          entries: [
            { reference: { schema: 'olm.package' }, message: 'p <old>' },
            { reference: { schema: 'olm.channel', name: 'stable' }, message: 'c' },
            { reference: { schema: 'olm.bundle', name: 'foo.v1.0.0' }, message: 'b' },
          ],
        }),
      ),
    },
    digest: '69b35ecded103665',
  },
  {
    why: 'custom blobs, of a package and of none, twice the same, and files that opm ignores',
    files: {
      'a/catalog.yaml': [
        'schema: olm.package\nname: foo\ndefaultChannel: stable\n',
        'schema: olm.channel\npackage: foo\nname: stable\nentries: [{name: foo.v1.0.0}]\n',
        `${createBundleJson('1.0.0')}\n`,
        'schema: io.example.meta\npackage: foo\nz: 1e3\na: [1.0, 0x10, yes, ~, <b>]\n',
        'schema: io.example.meta\npackage: foo\na: [1.0, 0x10, yes, ~, <b>]\nz: 1000\n',
        'schema: io.example.meta\nb: "\\u2028"\n',
      ].join('---\n'),
      'a/.indexignore': '*.txt\n',
      'a/notes.txt': 'not a catalog: [',
      empty: '{"schema":"other"}',
    },
    digest: '6b18a51bba9100a0',
  },
  {
    why: 'keys in other cases, fields in two spellings, numbers and pictures as they come',
    files: {
      'catalog.json': [
        toJson({
          Schema: 'olm.package',
          NAME: 'foo',
          DefaultChannel: 'stable',
          icon: { Base64Data: 'AAA=', mediatype: 'x' },
        }),
        toJson({ schema: 'olm.channel', PACKAGE: 'foo', Name: 'stable', entries: [{ NAME: 'foo.v1.0.0' }] }),
        createBundleJson('1.0.0', [
          { type: 'n', value: [1e21, 1e-7, 100000000000000000000, -0.0, 1.1] },
          createCsvMetadataProperty({
            Provider: { name: 'a' },
            provider: { url: 'b' },
            keywords: ['x'],
            Keywords: ['y', 'z'],
          }),
          { Type: 'olm.package.required', VALUE: { PackageName: 'p', versionrange: '1.x' } },
        ]),
      ].join('\n'),
    },
    digest: 'b7b34dd78853d109',
  },
  {
    why: 'two packages, long names, a version with everything',
    files: {
      'foo/catalog.json': createCatalogJson(
        {},
        [
          { name: `stable`, entries: [{ name: 'foo.v1.0.0-alpha.1+build.5' }] },
          { name: 'c'.repeat(90), entries: [{ name: 'foo.v1.0.0-alpha.1+build.5' }] },
        ],
        createBundleJson('1.0.0-alpha.1+build.5', [
          createCsvMetadataProperty({ description: 'd'.repeat(300) }),
        ]),
      ),
      'größe/catalog.json': [
        toJson({ schema: 'olm.package', name: 'bar', defaultChannel: 'ü' }),
        toJson({ schema: 'olm.channel', package: 'bar', name: 'ü', entries: [{ name: 'bar.v1' }] }),
        toJson({
          schema: 'olm.bundle',
          name: 'bar.v1',
          package: 'bar',
          image: 'quay.io/o/bar:1',
          properties: [{ type: 'olm.package', value: { packageName: 'bar', version: '1.0.0' } }],
        }),
      ].join('\n'),
    },
    digest: '0e98d0d350ab357e',
  },
]
