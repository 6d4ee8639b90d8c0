// Adds a bundle to a template: only the necessary lines, in the style of the existing lines.
import { describe, expect, test } from '@jest/globals'
import {
  addBundleToTemplate,
  type BundleReleaseInput,
} from '../../../../packages/fbc/src/template/amend-template.ts'

const newBundleRelease: BundleReleaseInput = {
  package: 'foo',
  name: 'foo.v1.1.0',
  image: 'quay.io/foo/foo@sha256:1',
  channels: ['stable'],
  replaces: 'foo.v1.0.0',
}

function amendTemplateText(text: string, more: Partial<BundleReleaseInput> = {}): string {
  const type = /schema['"]?: *['"]?olm.semver/i.test(text) ? 'olm.semver' : 'olm.template.basic'
  const result = addBundleToTemplate(new TextEncoder().encode(text), type, { ...newBundleRelease, ...more })
  return result.ok ? new TextDecoder().decode(result.value) : `refused: ${result.error}`
}

/** The added lines; fails if an old line is gone or has moved. */
function findAddedLines(text: string, more: Partial<BundleReleaseInput> = {}): string[] {
  const old = text.split(/(?<=\n)/)
  const added: string[] = []
  for (const line of amendTemplateText(text, more).split(/(?<=\n)/))
    if (line === old[0]) old.shift()
    else added.push(line.replace(/\n$/, ''))
  expect(old).toEqual([])
  return added
}

const basicTemplate = `---
# The graph of foo.
schema: olm.template.basic
entries:
- schema: olm.package
  name: foo   # the package
  defaultChannel: "stable"
- entries:
  # the first
  - name: foo.v1.0.0
    skipRange: '>=0.1.0 <1.0.0'   # all before
  name: stable
  package: foo
  schema: olm.channel

# Images.
- schema: olm.bundle
  image: quay.io/foo/foo:1.0.0
  # not any more: quay.io/foo/foo:0.1.0
# The end.
`

describe('a basic template', () => {
  test('gets the lines of the bundle, and keeps all other lines', () => {
    expect(
      findAddedLines(basicTemplate, { skipRange: '>=1.0.0 <1.1.0', skips: ['foo.v1.0.1', 'foo.v1.0.2'] }),
    ).toEqual([
      '  - name: foo.v1.1.0',
      '    replaces: foo.v1.0.0',
      '    skips:',
      '    - foo.v1.0.1',
      '    - foo.v1.0.2',
      "    skipRange: '>=1.0.0 <1.1.0'",
      '- schema: olm.bundle',
      '  image: quay.io/foo/foo@sha256:1',
    ])
    expect(amendTemplateText(basicTemplate)).toContain(
      '0.1.0\n- schema: olm.bundle\n  image: quay.io/foo/foo@sha256:1\n# The end.\n',
    )
  })

  test('gets lines that match its indentation, key order, and quotes', () => {
    const text = `entries:
    -   entries:
            -   replaces: "foo.v0.9.0"
                name: "foo.v1.0.0"
        name: stable
        package: foo
        schema: olm.channel
    -   image: 'quay.io/foo/foo:1.0.0'
        schema: olm.bundle
schema: olm.template.basic`
    expect(findAddedLines(text)).toEqual([
      '            -   replaces: "foo.v1.0.0"',
      '                name: "foo.v1.1.0"',
      "    -   image: 'quay.io/foo/foo@sha256:1'",
      '        schema: olm.bundle',
    ])
  })

  test('gets a channel that it does not have', () => {
    expect(findAddedLines(basicTemplate, { channels: ['stable', 'beta'] })).toEqual([
      '  - name: foo.v1.1.0',
      '    replaces: foo.v1.0.0',
      '- entries:',
      '  - name: foo.v1.1.0',
      '    replaces: foo.v1.0.0',
      '  name: beta',
      '  package: foo',
      '  schema: olm.channel',
      '- schema: olm.bundle',
      '  image: quay.io/foo/foo@sha256:1',
    ])
  })

  test.each([
    ['an empty list', 'entries: []   # none yet', '  - name: foo.v1.1.0'],
    ['no list', 'entries:', '  - name: foo.v1.1.0'],
  ])('gets the first entry of a channel that has %s', (_, entries, line) => {
    const text = `schema: olm.template.basic
entries:
- schema: olm.channel
  ${entries}
  name: stable
  package: foo
- schema: olm.bundle
  image: quay.io/foo/foo:1.0.0
`
    const lines = amendTemplateText(text).split('\n')
    expect(lines.slice(lines.indexOf(line))).toEqual([
      line,
      '    replaces: foo.v1.0.0',
      '  name: stable',
      '  package: foo',
      '- schema: olm.bundle',
      '  image: quay.io/foo/foo:1.0.0',
      '- schema: olm.bundle',
      '  image: quay.io/foo/foo@sha256:1',
      '',
    ])
    expect(amendTemplateText(text)).toMatch(/entries:( {3}# none yet)?\n {2}- name/)
  })

  test('with each item on one line gets the new items on one line', () => {
    const text = `schema: olm.template.basic
entries:
- {schema: olm.channel, package: foo, name: stable, entries: [{name: foo.v1.0.0}]}
- {schema: olm.bundle, image: 'quay.io/foo/foo:1.0.0'}
`
    expect(amendTemplateText(text, { skips: ['foo.v1,0'] })).toBe(
      `${text.replace('v1.0.0}]', 'v1.0.0}, {name: foo.v1.1.0, replaces: foo.v1.0.0, skips: ["foo.v1,0"]}]')}- {schema: olm.bundle, image: quay.io/foo/foo@sha256:1}
`,
    )
  })

  test.each([undefined, 2, '\t'])('in JSON stays JSON, with the indentation %p', (indent) => {
    const value = {
      schema: 'olm.template.basic',
      entries: [
        { schema: 'olm.channel', package: 'foo', name: 'stable', entries: [{ name: 'foo.v1.0.0' }] },
        { schema: 'olm.bundle', image: 'quay.io/foo/foo:1.0.0' },
      ],
    }
    const wanted = structuredClone(value) as { entries: unknown[] }
    wanted.entries.push({ schema: 'olm.bundle', image: newBundleRelease.image })
    ;(wanted.entries[0] as (typeof value.entries)[0]).entries?.push({
      name: 'foo.v1.1.0',
      replaces: 'foo.v1.0.0',
    } as never)
    const text = amendTemplateText(JSON.stringify(value, undefined, indent))
    expect(JSON.parse(text)).toEqual(wanted)
    if (indent === 2) expect(text).toBe(JSON.stringify(wanted, undefined, 2))
  })

  test('keeps its line endings, and stays without a final newline', () => {
    const windows = basicTemplate.replaceAll('\n', '\r\n').trimEnd()
    expect(amendTemplateText(windows)).toBe(
      amendTemplateText(basicTemplate).replaceAll('\n', '\r\n').trimEnd(),
    )
  })

  test('keeps comments with the same indentation after the last item', () => {
    const text = `schema: olm.template.basic
entries:
  - schema: olm.channel
    name: stable
    package: foo
    entries:
      - name: foo.v1.0.0
      #- name: foo.v1.0.1

  # 1.0.0
  - schema: olm.bundle
    image: quay.io/foo/foo:1.0.0
  # the end
`
    expect(findAddedLines(text)).toEqual([
      '      - name: foo.v1.1.0',
      '        replaces: foo.v1.0.0',
      '  - schema: olm.bundle',
      '    image: quay.io/foo/foo@sha256:1',
    ])
  })

  test('that already contains the bundle is not changed', () => {
    expect(amendTemplateText(amendTemplateText(basicTemplate))).toBe(amendTemplateText(basicTemplate))
  })
})

describe('a template is created', () => {
  test.each(['olm.template.basic', 'olm.semver'] as const)('as %s', (type) => {
    const result = addBundleToTemplate(undefined, type, {
      ...newBundleRelease,
      channels: type === 'olm.semver' ? ['Fast', 'Stable'] : ['stable'],
    })
    expect(result.ok && new TextDecoder().decode(result.value)).toBe(
      type === 'olm.semver'
        ? `---
Schema: olm.semver
GenerateMajorChannels: true
GenerateMinorChannels: true
Fast:
  Bundles:
  - Image: quay.io/foo/foo@sha256:1
Stable:
  Bundles:
  - Image: quay.io/foo/foo@sha256:1
`
        : `---
schema: olm.template.basic
entries:
- schema: olm.package
  name: foo
  defaultChannel: stable
- schema: olm.channel
  name: stable
  package: foo
  entries:
  - name: foo.v1.1.0
    replaces: foo.v1.0.0
- schema: olm.bundle
  image: quay.io/foo/foo@sha256:1
`,
    )
  })
})

describe('a semver template', () => {
  const text = `---
Schema: olm.semver
GenerateMinorChannels: true
Candidate:
  Bundles:
    # the first
    - Image: quay.io/foo/foo:1.0.0

# not yet
STABLE: # none
  bundles: []
`
  test('gets the image with the key spelling of existing items', () => {
    expect(findAddedLines(text, { channels: ['candidate'] })).toEqual([
      '    - Image: quay.io/foo/foo@sha256:1',
    ])
  })

  test('gets the image in an empty list, and in a channel that it does not have', () => {
    expect(amendTemplateText(text, { channels: ['Stable', 'fast'] })).toBe(
      text.replace(
        'bundles: []\n',
        `bundles:
    - Image: quay.io/foo/foo@sha256:1
Fast:
  Bundles:
    - Image: quay.io/foo/foo@sha256:1
`,
      ),
    )
  })
})

test.each([
  ['lists are shared', `x: &all []\nentries: *all\nschema: olm.template.basic\n`],
  [
    'lists are used twice',
    `entries: &all\n- {schema: olm.bundle, image: a}\nmore: *all\nschema: olm.template.basic\n`,
  ],
  ['keys occur twice', `entries: []\nentries: []\nschema: olm.template.basic\n`],
  ['the template is of another kind', 'schema: olm.template.substitutes\nentries: []\n'],
  ['it is not UTF-8', 'schema: olm.template.basic\nentries: []\n# \u00ff'],
  ['it is a list', '- schema: olm.template.basic\n'],
])('nothing is written if %s', (_, text) => {
  const bytes = new TextEncoder().encode(text)
  // Without its first byte, the character is not UTF-8.
  const given = text.includes('\u00ff') ? bytes.filter((byte) => byte !== 0xc3) : bytes
  const result = addBundleToTemplate(given, 'olm.template.basic', newBundleRelease)
  expect(result.ok && new TextDecoder().decode(result.value)).toBe(false)
})
