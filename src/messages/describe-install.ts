// Renders a simulated install as a list of steps and outcomes. Plain text; callers must make untrusted text printable.
import type {
  ChannelInstall,
  InstallReport,
  InstallVerdict,
  InstallStep,
  InstallStepOutcome,
} from '../checks/install/install-report.ts'
import { toPrintable } from '../findings/printable.ts'

const outcomeMarks: Readonly<Record<InstallStepOutcome, string>> = {
  passed: 'ok      ',
  warning: 'warning ',
  failed: 'FAILED  ',
  unknown: 'unknown ',
  'left out': '-       ',
}

const installLabels: Readonly<Record<InstallVerdict, string>> = {
  yes: 'installs (simulated)',
  no: 'does not install',
  unknown: 'could not be found out',
}

/** Further remarks of a step are only counted. */
const maxRemarks = 20

export function describeInstall({ package: packageName, installs, channels }: InstallReport): string {
  const all = channels.length > 1 ? [`${packageName}: ${installLabels[installs]}`, ''] : []
  return [...all, ...channels.flatMap((channel) => [...describeChannel(packageName, channel), ''])]
    .map(toPrintable)
    .join('\n')
}

function describeChannel(packageName: string, install: ChannelInstall): readonly string[] {
  const { channel, bundle, installs, steps, comesAlong, acceptance, provisioner } = install
  const bundleSuffix = bundle === undefined ? '' : `: ${bundle}`
  return [
    `${packageName}, channel ${channel}${bundleSuffix}: ${installLabels[installs]}`,
    ...steps.flatMap(describeStep),
    ...(comesAlong.length > 0 ? ['', '  Comes along:'] : []),
    ...comesAlong.flatMap((one) => [
      `    ${one.name} (package ${one.package}, channel ${one.channel})`,
      ...one.because.map((why) => `      ${why}`),
    ]),
    '',
    '  Installs with:',
    ...acceptance.flatMap(({ target, installs: its, because }) => [
      `    ${target.padEnd(16)} ${its === 'other format' ? 'takes bundles of another format' : its}`,
      ...because.slice(0, maxRemarks).map((why) => `      ${why}`),
    ]),
    ...describeProvisioner(provisioner),
  ]
}

function describeStep({ title, outcome, facts, remarks }: InstallStep): readonly string[] {
  const more = remarks.length - maxRemarks
  return [
    `  ${outcomeMarks[outcome]}${title}`,
    ...facts.map((fact) => `            ${fact}`),
    ...remarks
      .slice(0, maxRemarks)
      .map(({ kind, says, targets }) => `            ${kind} (${targets.join(', ')}): ${says}`),
    ...(more > 0 ? [`            and ${more} more`] : []),
  ]
}

function describeProvisioner(points: ChannelInstall['provisioner']): readonly string[] {
  if (points.length === 0) return []
  const held = points.filter(({ told }) => told === 'holds')
  const left = points.filter(({ told }) => told === 'cluster')
  return [
    '',
    `  Of RukPak's ${points.length} points for provisioners:`,
    ...held.map(({ number, asks, says }) => `    ${number}. ${asks}: ${says}`),
    `    left for a cluster: ${left.map(({ number }) => number).join(', ')}`,
  ]
}
