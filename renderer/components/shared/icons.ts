import Activity from '@lucide/svelte/icons/activity';
import ArrowDown from '@lucide/svelte/icons/arrow-down';
import ArrowLeft from '@lucide/svelte/icons/arrow-left';
import ArrowRight from '@lucide/svelte/icons/arrow-right';
import ArrowUp from '@lucide/svelte/icons/arrow-up';
import Ban from '@lucide/svelte/icons/ban';
import BookOpen from '@lucide/svelte/icons/book-open';
import Check from '@lucide/svelte/icons/check';
import ChevronDown from '@lucide/svelte/icons/chevron-down';
import ChevronRight from '@lucide/svelte/icons/chevron-right';
import ChevronUp from '@lucide/svelte/icons/chevron-up';
import ChevronsUpDown from '@lucide/svelte/icons/chevrons-up-down';
import CircleCheck from '@lucide/svelte/icons/circle-check';
import CircleDashed from '@lucide/svelte/icons/circle-dashed';
import CircleQuestionMark from '@lucide/svelte/icons/circle-question-mark';
import CircleX from '@lucide/svelte/icons/circle-x';
import Clock from '@lucide/svelte/icons/clock';
import Copy from '@lucide/svelte/icons/copy';
import CornerDownRight from '@lucide/svelte/icons/corner-down-right';
import Download from '@lucide/svelte/icons/download';
import Ellipsis from '@lucide/svelte/icons/ellipsis';
import ExternalLink from '@lucide/svelte/icons/external-link';
import FastForward from '@lucide/svelte/icons/fast-forward';
import Folder from '@lucide/svelte/icons/folder';
import Globe from '@lucide/svelte/icons/globe';
import Hourglass from '@lucide/svelte/icons/hourglass';
import Info from '@lucide/svelte/icons/info';
import KeyRound from '@lucide/svelte/icons/key-round';
import Keyboard from '@lucide/svelte/icons/keyboard';
import LayoutDashboard from '@lucide/svelte/icons/layout-dashboard';
import Link from '@lucide/svelte/icons/link';
import ListFilter from '@lucide/svelte/icons/list-filter';
import Lock from '@lucide/svelte/icons/lock';
import LockOpen from '@lucide/svelte/icons/lock-open';
import Menu from '@lucide/svelte/icons/menu';
import Monitor from '@lucide/svelte/icons/monitor';
import Moon from '@lucide/svelte/icons/moon';
import Network from '@lucide/svelte/icons/network';
import OctagonAlert from '@lucide/svelte/icons/octagon-alert';
import Pause from '@lucide/svelte/icons/pause';
import PawPrint from '@lucide/svelte/icons/paw-print';
import Pencil from '@lucide/svelte/icons/pencil';
import Play from '@lucide/svelte/icons/play';
import Plus from '@lucide/svelte/icons/plus';
import RefreshCw from '@lucide/svelte/icons/refresh-cw';
import RotateCcw from '@lucide/svelte/icons/rotate-ccw';
import Search from '@lucide/svelte/icons/search';
import Send from '@lucide/svelte/icons/send';
import Settings from '@lucide/svelte/icons/settings';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import ShieldX from '@lucide/svelte/icons/shield-x';
import SlidersHorizontal from '@lucide/svelte/icons/sliders-horizontal';
import Snowflake from '@lucide/svelte/icons/snowflake';

import Star from '@lucide/svelte/icons/star';
import Stethoscope from '@lucide/svelte/icons/stethoscope';
import Sun from '@lucide/svelte/icons/sun';
import Terminal from '@lucide/svelte/icons/terminal';
import Trash2 from '@lucide/svelte/icons/trash-2';
import TriangleAlert from '@lucide/svelte/icons/triangle-alert';
import Undo2 from '@lucide/svelte/icons/undo-2';
import Unplug from '@lucide/svelte/icons/unplug';
import Upload from '@lucide/svelte/icons/upload';
import WandSparkles from '@lucide/svelte/icons/wand-sparkles';
import X from '@lucide/svelte/icons/x';

/** The pictures of Icon.svelte, by what they stand for in Vivarium, not by what they show. */
export const ICONS = {
  copy: Copy,
  check: Check,
  warning: TriangleAlert,
  failure: OctagonAlert,
  info: Info,
  clock: Clock,
  frozen: Snowflake,
  ban: Ban,
  unplugged: Unplug,
  overview: LayoutDashboard,
  pets: PawPrint,
  traffic: Activity,
  general: SlidersHorizontal,
  domains: Globe,
  limits: KeyRound,
  dns: Network,
  certificates: ShieldCheck,
  api: BookOpen,
  doctor: Stethoscope,
  settings: Settings,
  sun: Sun,
  moon: Moon,
  system: Monitor,
  add: Plus,
  close: X,
  more: Ellipsis,
  down: ChevronDown,
  right: ChevronRight,
  up: ChevronUp,
  choose: ChevronsUpDown,
  search: Search,
  remove: Trash2,
  edit: Pencil,
  undo: Undo2,
  arrow: ArrowRight,
  external: ExternalLink,
  download: Download,
  upload: Upload,
  play: Play,
  pause: Pause,
  reset: RotateCcw,
  again: RefreshCw,
  forward: FastForward,
  ok: CircleCheck,
  pending: CircleDashed,
  failed: CircleX,
  unknown: CircleQuestionMark,
  lock: Lock,
  unlocked: LockOpen,
  terminal: Terminal,
  filter: ListFilter,
  primary: Star,
  redirect: CornerDownRight,
  send: Send,
  waiting: Hourglass,
  refused: ShieldX,
  keyboard: Keyboard,
  keyUp: ArrowUp,
  keyDown: ArrowDown,
  keyLeft: ArrowLeft,
  keyRight: ArrowRight,
  menu: Menu,
  made: WandSparkles,
  project: Folder,
  link: Link,
} as const;

export type IconName = keyof typeof ICONS;
