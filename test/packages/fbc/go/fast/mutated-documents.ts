// Catalog documents with random but reproducible damage, which the fast readers must read exactly like the exact ones.
import { parseWritableCatalog } from '../../../../../packages/fbc/src/write/writable-catalog.ts'
import { formatCatalogJson } from '../../../../../packages/fbc/src/write/format-json.ts'

/** A small random number generator (mulberry32), so that a seed reproduces an entire run. */
export class SeededRandom {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** An integer from 0 to `limit`, exclusive. */
  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }
}

const configMapJson =
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a-b","labels":{"name":"x"}},"data":{"a":"\\n"}}'

/** In the format of `opm render`, with every style of scalar that it uses. */
export const renderedYamlDocuments = [
  `---
defaultChannel: stable
description: |-
  Runs things.

    - indented
  ## and headed
icon:
  base64data: PHN2Zz48L3N2Zz4=
  mediatype: image/svg+xml
name: foo
schema: olm.package
`,
  `---
entries:
- name: foo.v1.0.0
- name: foo.v1.1.0
  replaces: foo.v1.0.0
  skipRange: '>=1.0.0 <1.1.0'
  skips:
  - foo.v1.0.1
  - foo.v1.0.2
name: stable
package: foo
schema: olm.channel
`,
  `---
image: quay.io/foo/bundle@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
name: foo.v1.1.0
package: foo
properties:
- type: olm.gvk
  value:
    group: foo.example.com
    kind: Foo
    version: v1alpha1
- type: olm.package
  value:
    packageName: foo
    version: 1.1.0
- type: olm.maxOpenShiftVersion
  value: "4.18"
- type: olm.constraint
  value:
    all:
      constraints:
      - failureMessage: needs 1.22, really
        package:
          packageName: bar
          versionRange: '>=1.0.0'
      - cel:
          rule: 'true'
- type: olm.csv.metadata
  value:
    annotations:
      alm-examples: |-
        [
          {
            "apiVersion": "foo.example.com/v1alpha1",
            "kind": "Foo",
          	"spec": {"size": 3}
          }
        ]
      capabilities: Full Lifecycle
      createdAt: "2024-01-02T03:04:05Z"
      description: A text that is long enough to be folded at eighty columns, as
        the encoder does it, over three
        lines
      quoted: "tabs \\t and \\u00e9 and a \\
        folded \\"line\\"\\n\\
        \\ indented"
      single: 'it''s folded
        here: too'
      empty: ""
      olm.skipRange: <1.1.0
      support: Ünïcode 漢字 😀
    apiServiceDefinitions: {}
    crdDescriptions:
      owned:
      - description: Foo is the Schema for the foos API
        displayName: Foo
        kind: Foo
        name: foos.foo.example.com
        resources:
        - kind: Pod
          name: ""
          version: v1
        specDescriptors:
        - description: Size
          displayName: Size
          path: size
          value: 3
          x-descriptors:
          - urn:alm:descriptor:com.tectonic.ui:podCount
        version: v1alpha1
    description: |2

        Begins with a blank line.
      # Foo
    displayName: Foo Operator
    installModes:
    - supported: true
      type: OwnNamespace
    - supported: false
      type: AllNamespaces
    keywords:
    - foo
    - 1.5
    links: []
    maintainers:
    - email: foo@example.com
      name: Foo
    maturity: alpha
    minKubeVersion: 1.22.0
    provider:
      name: Foo Inc.
relatedImages:
- image: quay.io/foo/bundle@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
  name: ""
- image: quay.io/foo/foo:v1.1.0
  name: operator
schema: olm.bundle
`,
  `---
image: ""
name: foo.v1.0.0
package: foo
properties:
- type: olm.package
  value:
    packageName: foo
    version: 1.0.0
- type: olm.bundle.object
  value:
    data: ${btoa(configMapJson)}
- type: olm.bundle.object
  value:
    data: ${btoa('kind: Service\nmetadata:\n  name: foo\n')}
schema: olm.bundle
`,
  `---
entries:
- message: |
    foo.v1.0.0 is old
  reference:
    name: foo.v1.0.0
    schema: olm.bundle
package: foo
schema: olm.deprecations
`,
] as const

/** The same catalog in the format of `opm render -o json`, one object per blob. */
export const renderedJsonObjects: readonly string[] = (() => {
  const read = parseWritableCatalog(renderedYamlDocuments.map((text) => new TextEncoder().encode(text)))
  if (!read.ok) throw new Error(read.error)
  return formatCatalogJson(read.value)
    .split(/^(?=\{)/m)
    .filter((text) => text !== '')
})()

const yamlFragments = [
  ...' \n:#-|>"\'\\{}[],&*!%@`?~=<+._\t\r0123456789eExoynYN/',
  ...[
    ' ',
    '  ',
    '    ',
    '\n\n',
    ': ',
    ' #',
    '#',
    '- ',
    '-\n',
    '---',
    '\n---\n',
    '--- # x\n',
    '...',
    '\n...\n',
    '|',
    '|-',
    '|+',
  ],
  ...[
    '|2',
    '|1-',
    '>',
    '>-',
    '""',
    "''",
    "'",
    '{}',
    '[]',
    '[a, b]',
    '{a: b}',
    '&a ',
    '*a',
    '!!str ',
    '<<: ',
    '? ',
  ],
  ...[
    'null',
    '~',
    'true',
    'yes',
    'off',
    'y',
    '1',
    '1.0',
    '0x1F',
    '0o7',
    '1e3',
    '1_0',
    '.5',
    '.inf',
    '-1',
    '2024-01-01',
  ],
  ...[
    '\u0000',
    '\u0001',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\u2029',
    '\ufeff',
    '\ufffe',
    '\ud83d\ude00',
    'é',
    '漢',
  ],
  ...[
    '\\u00e9',
    '\\x41',
    '\\U0001F600',
    '\\ud83d',
    '\\/',
    '\\ ',
    '\\\n',
    '\\q',
    'name: x\n',
    'schema: olm.bundle\n',
    'NAME: y\n',
  ],
  ...['\n# comment\n', ' # comment', '\t', '\r\n', '  \n', '    \n', '\n \n'],
]

const jsonFragments = [
  ...' \n\t\r"\\{}[]:,0123456789-+.eEtfnux/#\'',
  ...[
    '""',
    '{}',
    '[]',
    '[1, 2]',
    '{"a": 1}',
    '"a": 1, ',
    '"NAME": "x",',
    '"schema": "olm.bundle",',
    'null',
    'true',
    'fals',
  ],
  ...['-0', '01', '1.', '.5', '1e999', '1e400', '-1e-400', '9007199254740993', '1.0', '1E+3', 'NaN', '0x1'],
  ...[
    '\\n',
    '\\u00e9',
    '\\ud83d\\ude00',
    '\\ud83d',
    '\\udc00',
    '\\u12',
    '\\/',
    '\\x',
    '\\"',
    '\\u0000',
    '\\b',
  ],
  ...[
    '\u0000',
    '\u0001',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\ufffe',
    '\ud83d\ude00',
    'é',
    '漢',
  ],
  ...[
    '\n---\n',
    '}{',
    '}\n{',
    '\n\n',
    '\r\n',
    '# x\n',
    '{"schema": "x"}',
    '    ',
    ' '.repeat(3000),
    '},\n{',
    ',',
    '<',
  ],
]

/** Applies one random change, which may be none. */
function mutateText(
  text: string,
  random: SeededRandom,
  splinters: readonly string[] = yamlFragments,
): string {
  const at = random.below(text.length + 1)
  const lines = (): string[] => text.split('\n')
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
      return text.slice(0, at) + random.pick(splinters) + text.slice(at)
    case 3:
      return text.slice(0, at) + text.slice(at + 1 + random.below(3))
    case 4:
      return text.slice(0, at) + random.pick(splinters) + text.slice(at + 1)
    case 5: {
      // Changes the indentation of one line.
      const all = lines()
      const line = random.below(all.length)
      const step = random.pick([' ', '  ', '    ', '\t'])
      const old = all[line] ?? ''
      all[line] = random.below(2) === 0 ? step + old : old.replace(new RegExp(`^${step}`), '')
      return all.join('\n')
    }
    case 6: {
      const all = lines()
      const [line = ''] = all.splice(random.below(all.length), 1)
      if (random.below(2) === 0) all.splice(random.below(all.length + 1), 0, line)
      return all.join('\n')
    }
    case 7: {
      const all = lines()
      const line = random.below(all.length)
      all.splice(random.below(all.length + 1), 0, all[line] ?? '')
      return all.join('\n')
    }
    case 8: {
      // Replaces the value after a colon or dash.
      const spots = [...text.matchAll(/(?<=: |- )[^\n]*/g)]
      const spot = random.pick(spots)
      if (spot === undefined) return text
      return text.slice(0, spot.index) + random.pick(splinters) + text.slice(spot.index + spot[0].length)
    }
    default:
      return text.slice(0, at)
  }
}

/**
 * The bytes of a few documents with one to four changes, rarely with a byte that is not UTF-8. Half of the files contain
 * one document several times, with at most one change, like the versions of an Operator.
 */
export function createMutatedDocuments(
  random: SeededRandom,
  sources: readonly string[] = renderedYamlDocuments,
): Uint8Array {
  return createMutatedBytes(random, sources, yamlFragments)
}

/** The same for objects in the JSON format of opm. */
export function createMutatedJsonObjects(
  random: SeededRandom,
  sources: readonly string[] = renderedJsonObjects,
): Uint8Array {
  return createMutatedBytes(random, sources, jsonFragments)
}

function createMutatedBytes(
  random: SeededRandom,
  sources: readonly string[],
  splinters: readonly string[],
): Uint8Array {
  let text = ''
  if (random.below(2) === 0) {
    for (let count = 1 + random.below(3); count > 0; count--) text += random.pick(sources)
  } else {
    let version = random.pick(sources)
    for (let count = 2 + random.below(4); count > 0; count--) {
      text += version
      if (random.below(2) === 0) version = mutateText(version, random, splinters)
    }
  }
  for (let changes = 1 + random.below(4); changes > 0; changes--) text = mutateText(text, random, splinters)
  const bytes = new TextEncoder().encode(text)
  if (random.below(40) === 0 && bytes.length > 0)
    bytes[random.below(bytes.length)] = 0x80 + random.below(0x80)
  return bytes
}
