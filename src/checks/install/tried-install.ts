// The result of a simulated install, shortened for the check run.
import type { ChannelInstall, InstallStep, Installs, Remark } from './install-report.ts'

export interface TriedInstall {
  readonly package: string
  readonly channel: string
  /** Roots of the catalogs with this same result. */
  readonly catalogs: readonly string[]
  readonly bundle?: string
  readonly installs: Installs
  readonly comesAlong: readonly string[]
  readonly acceptance: ChannelInstall['acceptance']
  readonly steps: readonly InstallStep[]
}

/** Limits for the check run; the command line shows everything. */
const most = { remarks: 5, facts: 5, because: 3, text: 600 }

export function triedInstall(packageName: string, catalog: string, channel: ChannelInstall): TriedInstall {
  const { comesAlong, acceptance, steps, bundle, installs } = channel
  return {
    package: packageName,
    channel: channel.channel,
    catalogs: [catalog],
    ...(bundle !== undefined && { bundle }),
    installs,
    comesAlong: comesAlong.map(({ name, package: its }) => short(`${name} (package ${its})`)),
    acceptance: acceptance.map((row) => ({ ...row, because: firstOf(row.because, most.because, short) })),
    steps: steps.map((step) => ({
      ...step,
      facts: firstOf(step.facts, most.facts, short),
      remarks: shortRemarks(step.remarks),
    })),
  }
}

/** Merges equal results of several catalogs, in the order of the first. */
export function mergedInstalls(tried: readonly TriedInstall[]): readonly TriedInstall[] {
  const alike = Map.groupBy(tried, ({ catalogs: _, ...rest }) => JSON.stringify(rest))
  return [...alike.values()].flatMap((same) => {
    const [first] = same
    return first ? [{ ...first, catalogs: same.flatMap(({ catalogs }) => catalogs) }] : []
  })
}

function shortRemarks(remarks: readonly Remark[]): readonly Remark[] {
  const order = { refused: 0, unknown: 1, warning: 2 }
  return remarks
    .toSorted((a, b) => order[a.kind] - order[b.kind])
    .slice(0, most.remarks)
    .map((remark) => ({ ...remark, says: short(remark.says) }))
}

function firstOf(texts: readonly string[], count: number, cut: (text: string) => string): readonly string[] {
  const more = texts.length - count
  return [...texts.slice(0, count).map(cut), ...(more > 0 ? [`and ${more} more`] : [])]
}

function short(text: string): string {
  return text.length <= most.text ? text : `${text.slice(0, most.text).toWellFormed()}…`
}
