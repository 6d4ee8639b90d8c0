// The linked catalog: packages with their channels, entries, and bundles. Incomplete if the catalog has problems.
import type { Location, Finding } from '@catalog-bot/findings/finding'
import type { FindingList } from '@catalog-bot/findings/finding-list'
import type { FindingRule } from '@catalog-bot/findings/rule'
import type {
  BlobLocation,
  BundleBlob,
  ChannelBlob,
  ChannelEntry,
  DeprecationEntry,
  PackageBlob,
} from '../facts/catalog.ts'
import type { Version } from '../versions/version.ts'
import type { OpmRuleSet } from './rule-set.ts'
import type { TextPosition } from '../go/position-lookup.ts'

export interface ErrorTree {
  readonly text: string
  readonly causes: readonly ErrorTree[]
}

/** Collects the problems of a conversion as findings, and opm's message for the first. */
export class ProblemCollector {
  private readonly findings: FindingList
  private firstMessage: string | undefined

  constructor(findings: FindingList) {
    this.findings = findings
  }

  /** opm's message for the first problem. */
  get message(): string | undefined {
    return this.firstMessage
  }

  /** Call this in opm's order. `message` is undefined if opm reports the problem only in its error tree. */
  add<Data extends object>(
    message: (() => string) | undefined,
    rule: FindingRule<Data>,
    at: Location,
    data: Data,
    related?: Finding['related'],
  ): void {
    this.firstMessage ??= message?.()
    this.findings.add(rule, at, data, related)
  }
}

/** The state that the steps of one conversion share. */
export interface ModelConversionState {
  readonly ruleSet: OpmRuleSet
  readonly packages: Map<string, ModelPackage>
  /** By package, then by name. */
  readonly bundles: Map<string, Map<string, ModelBundle>>
  /** Packages that already have a deprecations blob. */
  readonly deprecated: Set<string>
  readonly problems: ProblemCollector
}

export interface ModelPackage {
  readonly blob: PackageBlob
  readonly channels: Map<string, ModelChannel>
  deprecation?: ModelDeprecation
}

export interface ModelChannel {
  readonly name: string
  /** Absent for the empty channel that opm adds for a missing `defaultChannel`. */
  readonly blob?: ChannelBlob
  /** By name, in load order. Contains only the first entry of each name. */
  readonly entries: Map<string, ModelChannelEntry>
  deprecation?: ModelDeprecation
}

export interface ModelChannelEntry {
  readonly entry: ChannelEntry
  bundle?: ModelBundle
}

export interface ModelBundle {
  readonly blob: BundleBlob
  /** Absent if the version is invalid. */
  version?: Version
  release: string
  deprecation?: ModelDeprecation
  /** Prevents reporting the problems of a bundle once per channel. */
  isReported?: boolean
}

export interface ModelDeprecation {
  readonly place: BlobLocation
  readonly entry: DeprecationEntry
}

export function toFindingLocation(location: BlobLocation, mark: TextPosition = location): Location {
  return { file: location.file, line: mark.line, column: mark.column }
}

export function createFirstOccurrenceNote(location: BlobLocation): { at: Location; note: string } {
  return { at: toFindingLocation(location), note: 'the first one' }
}

// opm's error tree and its printed form.
export function createErrorLeaf(text: string): ErrorTree {
  return { text, causes: [] }
}

/** Returns an empty list without causes. */
export function createErrorNode(text: string, causes: readonly ErrorTree[]): ErrorTree[] {
  return causes.length === 0 ? [] : [{ text, causes }]
}

/** Does not end in a newline. Like opm, does not indent the continuation lines of multiline messages. */
export function formatErrorTree(tree: ErrorTree): string {
  const lines: string[] = []
  appendErrorLines(tree, '', '', lines)
  return lines.join('\n').trim()
}

function appendErrorLines(node: ErrorTree, mark: string, indent: string, lines: string[]): void {
  lines.push(mark + node.text + (node.causes.length > 0 ? ':' : ''))
  for (const [index, cause] of node.causes.entries()) {
    const last = index === node.causes.length - 1
    appendErrorLines(cause, indent + (last ? '└── ' : '├── '), indent + (last ? '    ' : '│   '), lines)
  }
}
