// Words and phrases of those who look for a tool, and what a tool says in their place. The senses hold in this direction alone.

/** Words of queries, and after `>` what a tool may say in their place, since they are broader, or have another sense besides. */
export const broader = `
2fa mfa otp totp > authentication factor; abuser spammer troll > block user;
access colleague contributor external share > collaborator; acknowledge correct mark recover reword text typo unarchive wrong > update;
addon connector plugin > app application; address > email; ai chatbot llm > agent copilot; alert inbox unread > notification;
alias client customer handle nickname profile username > account user; allowance left throttle > limit rate; allowlist > bypass;
alter freeze unchangeable > immutable; amend rewrite tweak > edit update; analyse analyze scanner > analysis scan; analysis > scan;
anonymous conceal hidden secret > private visibility; answer conversation discussion reply > comment;
anybody employee human teammate > member user; anyone guest open outside seen stranger > public; approver signoff > approve review;
archive > tarball zipball; artefact binary produce > artifact; article post website > page; assignee delegate > assign;
assistant > copilot; atom rss > feed; attach > resource; attendee > invitation; audit calendar > event; automatic > automated;
automation robot > app workflow; availability > busy free; avatar beginner bio contact me photo programmer someone > user;
average > statistic summary; background > async; backup dump > export migration; bash shell terminal > command run;
begin introduce set spin > add create; behavior etiquette > conduct; bigger > parent; bill cost minute space use > usage;
bin boot cancel cut eject end evict expel kick lose nuke oust retract scrap throw trash undo > delete remove; blame > author commit;
block manifest sbom > dependency; blocker paragraph > block; blog homepage > page site; board > project;
boilerplate scaffold starter > template; book reserve schedule > create event; bookmark favorite favourite like > star;
boss chief lead root superuser > admin owner; bot integrate > app installation; branch internal our us we > organization;
bring conflict land > merge; broken red > fail failure; build > action create run workflow;
business corporate employer firm > enterprise organization; buy invite sum write > add; bypass > rule; call > delivery request;
categorize classify color colour triage > label; category > label topic; celebrate congratulate emoji emojis heart thumb > reaction;
chain pile series > stack; change history revision > commit; charge consume consumption expense > billing usage; chase > reminder;
chat > comment discussion; cheap expensive > price; checkout > clone; choose > selected set update; ci pipeline > action run workflow;
clash > conflict; click hit reader viewer > traffic view; cloud private > hosted; code codebase project > repository;
coder creator developer writer > author contributor; come site > referrer; comment participate > interaction; complete > close update;
component > dependency sbom; compress > download; compromised stolen > leak revoke; computer worker > machine runner;
condense > summarize summary; configure decide say > set;
connect nominate plug provision rotate scribble start suggest upload > create; console > log run; constraint policy > rule ruleset;
contain include > content item; container docker gem image module npm > package; contractor freelancer outsider > collaborator outside;
copyright > license; count graph request > statistic; cpu memory size > machine spec; crash task > issue; crew squad > group team;
cve > advisory; daily monthly weekly yearly > day week; dangerous > severity; day expiry keep lifetime > retention;
deactivate expire invalid void > delete revoke; deadline due > milestone; decision grade remark reviewer verdict > review;
defect epic story > issue item; define > create definition; delete hang > cancel; delta > compare diff;
demand gatekeeper lockdown prevent require safeguard shield unprotect > protection; destination target > base;
detach fire offboard quit resign > remove; detect > pattern scan; discard ignore override overrule wave > dismiss;
disconnect dissolve forget old unpublish unregister wipe > delete; discuss speak talk > comment message; disk > directory file;
dislike > reaction unstar; dns > record; document material > attachment resource; domain > cname page; done > progress status;
dormant idle inactive licence unused > seat; download > asset clone; draft > create pending; drive > campaign;
earlier previous > history version; editor > codespace collaborator role; email > message send; emoticon > emoji reaction;
encrypt > key public; entitlement privilege > permission role; env setting > variable; everybody everyone > public restriction user;
exception > bypass error; exercise homework > assignment; exploit insecure weakness > alert vulnerability; export retire > archive;
expose reveal unhide > show visibility; extract id know reason tell why > get; failed > log status; false flaw positive > alert;
fan > follower; feed going happen > activity event; feedback opinion > comment review; file > content create resource;
filter row > query; find > alert get list; fingerprint md5 > digest hash; fix > autofix edit update;
flag increase lower select specify > set update; fleet > group; fly > flight; folder recursive > tree; forbid > disable remove;
force mandatory must oblige > enforcement; forward > send; fraud scam > risk; free > availability busy; fresh refresh > reset;
friend > collaborator user; gate guard > protection rule; gigabyte > limit storage; glance peek > get view; good status > check;
google surf > search web; govern > policy; gpg ssh > key; grab > download get;
green online outage outcome pass process ready result succeed > status; grep > code search; guess proposal recommend > suggestion;
hand payout > transfer; hardware > machine; healthy > health status; helper > collaborator member; hide public > visibility;
hierarchy structure > directory tree; hold preserve > retention save; hole > advisory alert security vulnerability;
host machine vm > runner; hotel > booking; hotfix > fix; html > markdown render; https > certificate; hunt > find search;
hyperlink prefix > autolink; i myself personal > authenticated user; icon logo > image; ide sandbox > codespace; identity > oidc;
import ingest > migration; importance > priority severity; incomplete scratch unsent > draft; initiative > campaign project;
inside > child; installed partner thirdparty > app; instance > location runner; introduction > readme; invoice > payment usage;
ip > address meta; job > run workflow; join > accept invitation member; jot > create draft; kanban roadmap sprint > board project;
key sensitive vault > secret; keyword term > search topic; kill > revoke; kind > type; knowledge wiki > document page;
kubernetes > deployment; launch ship > deployment release; layout > view; leak > alert scan secret; let > allow enable; lgtm > approve;
line > branch content; linkedin mastodon twitter > account social; live prod production stage > deployment environment;
load peruse skim > read; lock > conversation immutable; login > token; logout signout > revoke session; main master > branch;
manager > role; manual manually > dispatch; marker > tag; marketplace > subscription; maximum > cap; metadata > custom property;
mirror > clone fork; mistake revive > restore; mute > notification subscription thread; narrow > scope; nested > content parent;
no > decline; notify push > webhook; number > get metric usage; onboard > add invite; operating os > platform;
order > position reprioritize; origin referer > referral referrer; original sync > upstream; output > artifact log;
overall recap total > summary; overwrite swap > replace set; own > hosted list self user; parallel queue simultaneous > concurrency;
parameter > configuration setting; passphrase token > credential secret; patch > autofix fix; pay > billing subscription;
paying price > billing payment; payload received sent > delivery; pgp > gpg key; ping remind > notification notify; place > instance;
plaintext > raw; pointer > ref reference; poll > survey; pool > group runner; popular > commonly; postpone reschedule > event update;
prerequisite > block dependency; preset > configuration default; priority > field; problem > alert finding; prohibit > block disable;
proof provenance > attestation; propose > create pull request; prove > verify; publish > package release version; put > add move;
quiet silence > ignore unsubscribe; quota > rate; rank rearrange reorder sequence > reprioritize; raw > content;
reach > access permission user; read > mark; readonly > lock; reboot > rerun restart; recognise > detect scan;
recursively walk > recursive tree; regex > pattern; register signup > registration; release > delete publish version;
remaining > limit; renew > create refresh; rent > host; repair resolve > fix update; resend retransmit retrigger > redeliver;
respond > comment ping; responsible > assignee owner; rest > api; restart > rerun; restrict > block interaction; resume wake > start;
return > refund; revert > deployment restore; risk risky > vulnerability; rollback > restore revert; rule > policy protection ruleset;
safety > security; saml > identity sso; scale > image resize; search > get list; server > deploy runner; shut shutdown > stop;
sign > gpg; signin > auth authenticate; similar > duplicate; smaller > sub; snapshot > commit version; snippet > gist;
spend > budget usage; spreadsheet > database table; sql > database query; sso > identity saml; stdout tail trace > log; step > job;
sticky > pin; store > storage; student teacher > assignment classroom; subdirectory subfolder > directory; subject tag > topic;
subscriber > subscription watcher; subtask > issue sub; successful > success; successor > owner; support > issue ticket;
swimlane > column field; table > data source; tar tgz > archive tarball; tarball > archive zipball; tier > plan subscription;
timeline > event feed; timezone > time; today tomorrow > date time; todo work > assign issue; traffic > request;
transcribe > caption transcription; trial > attempt subscription; trunk > branch default; try > attempt test; unban > unblock;
unfinished > pending; unlike > unstar; unmute > subscribe subscription; unsubscribe unwatch > delete subscription;
upvote vote > reaction star; valid > error; variable > environment; verify > verification; version > release tag;
visible > public visibility; visit > path popular referral; vulnerable > alert security; wait > block concurrency dependency;
warn > annotation; webpage > page url; when > date; who > actor; word > document; workspace > space; writable > unlock; year > week;
yes > accept; yesterday > day; zip > download zipball`

/** Phrases, and after `=` what is asked in their place. */
export const phrasesInstead = `
get rid of, throw away, throw out, do away with, take down, take back, take away, take off, take out, clean up, clear out, tear down, wipe out, cross out, kick out, wind up = delete;
no longer, not any more, not anymore, any longer, no more, do not need, does not need, do not want, don't want, don't need, doesn't need, need no = remove;
free up, free the space, make room = delete; turn on, switch on, turn back on, switch back on, opt in = enable;
turn off, switch off, shut off, opt out = disable; shut down, bring down = stop; spin up, boot up, fire up, kick off, start up = start;
set up, put together, come up with, write up = create; fill in, fill out = update; out of date, behind the time = outdated;
bring back, get back, put back, win back = restore; undo the deletion, undo the removal, undo deleting, undo a deletion = restore;
look up, look for, hunt for, search for = search; look at, have a look at, take a look at, go through = view;
how many, how much = count; who am i, who am i logged in as, who i am = get authenticated user;
logged in as, signed in as, logged in, signed in = authenticated user; hand over, hand to, give away, pass on = transfer;
sign up, sign on = register; log out, sign out, log off = logout; sign off = approve; find out, figure out, tell me = get;
carry out, set off = run; call off = cancel; put off, push back = reschedule; point to, point at = update; pick up where = resume;
go back to, roll back = revert; prs = pull requests; pr = pull request; merge request, merge requests = pull request;
put in charge of, in charge of = assign; make sure that = check; stop watching, stop following = unsubscribe;
leave a comment, leave a remark, leave a note = create comment; do again, once more, run again, one more time = rerun;
let know = notify; say yes to, give the green light, green light, give the go ahead, go ahead = approve;
say no to, turn down, knock back = reject; lift a ban, lift the ban, lift a block = unblock;
send again, deliver again, fire again = redeliver; open again = reopen; ask again, request again = rerequest`

/** Phrases, and after `~` the words for which each of their words may stand. */
export const phrasesAlike = `
build machine, build server, build agent, build box, build host, ci machine, ci server, ci agent, build worker ~ runner;
dev environment, development environment, cloud ide, online editor, dev box, dev container, cloud workspace, cloud editor, cloud environment ~ codespace;
static analysis, code analysis, security scan, static scan, code scanner, static scanner ~ code scan;
release notes, change log ~ release note; container image, docker image ~ package; source code, code base ~ repository;
thumbs up, thumbs down, smiley face ~ reaction;
who can, who may, who is allowed, who is able, who has access, who all has, who gets to, who could, can push, may push, write access ~ collaborator permission access;
who belongs, who is in, who is part, who else is ~ member; who wrote, who made, who worked, who helped, who built ~ contributor author;
who approved, who signed ~ review approval; how far, done yet, finished yet, still running, is ready ~ status;
how big, how large, how heavy ~ size; how long ~ retention time; how often ~ frequency statistic;
to do list, to do, work on ~ assign issue task;
what is going on, what is new, what happened, what is happening, going on ~ event activity; web site, home page ~ page;
api call, api calls, api request, api traffic ~ api insight; rate limit, api quota ~ rate limit; md to html ~ render markdown;
branch rule, branch rules ~ ruleset protection; push rule, push rules ~ ruleset;
build output, build outputs, build result, build file ~ artifact; build cache, build caches ~ cache;
ci setting, ci config, ci variable, build variable, build setting ~ variable action;
ci password, ci credential, ci secret, build secret ~ secret action;
access token, api key, api token, personal token ~ token credential; public key, encryption key ~ public key;
operating system, operating systems ~ platform; mail address, e mail ~ email; by default ~ default; at once ~ bulk;
piece of code, pieces of code, code snippet, bit of code ~ gist snippet; no thanks, no thank you ~ decline reject;
deploy by itself, by itself, by themselves ~ automated automatic; to the original, with the original, the original ~ upstream;
in which, where is, where are, where was, where were, where does, where do, where did ~ location path;
when is, when was, when are, when were, when did, when does, when do, when will ~ date time history schedule;
who is, who are, who was, who has, who does, who did, who did it ~ user member;
keep up with, stay informed, stay up to date ~ follow subscription watch;
look before, used to look, looked like, look like before ~ revision history version; in secret, in private ~ private;
and when, and by whom ~ event timeline history;
warn me when, tell me when, alert me when, warn us when, notify me when ~ alert enable notification;
must not, may not, not allowed to, is not allowed, are not allowed ~ exclusion restriction block;
waiting to be merged, ready to merge, propose my change, propose my changes, proposed change, proposed changes, code change, code changes ~ pull request;
on disk, on my disk, on my computer, locally, local file, local files ~ file directory;
work for, works for, employed by ~ membership member;
everyone can see, everybody can see, anyone can see, visible to everyone, visible to all ~ public; cool down ~ restriction limit;
report a bug, file a bug, file a ticket, raise a ticket, open a ticket, log a bug, report a problem, open a bug, raise an issue, file an issue ~ create issue;
take over ~ transfer assign; by hand ~ dispatch; run by hand, start by hand ~ dispatch workflow;
in one go, in bulk, at the same time, all at once ~ multiple bulk;
who sees, who can see, who can view, who can read ~ access collaborator visibility;
what can i do, what may i do, am i allowed, can i ~ permission check; am i, do i, did i, have i ~ check authenticated;
give access, grants access, get access, have access, has access ~ access permission collaborator;
lose access, loses access, lost access ~ remove access; how active, how busy ~ activity statistic; how popular ~ star traffic;
how many people ~ count member; each other ~ compare;
last week, last month, last year, this week, this month, this year, per week, per day, per month, per hour ~ activity statistic usage;
over time ~ time statistic history; so far ~ usage status; right now ~ current status;
what is wrong, what went wrong ~ error failed log; plain text ~ text raw;
machine type, machine types, machine size ~ machine;
when someone, when something, each time, every time, as soon as, call my url, call my server, call a url, post to my ~ webhook;
things i follow, people i follow ~ following; look good, looks fine, look fine ~ approve review;
belong to me, that i own, that i have ~ authenticated user;
assigned to me, given to me, on my plate, my task, my tasks, my work ~ assigned authenticated issue;
one person, a person, each person ~ user; default branch ~ repository branch; who pays, who is paying ~ billing subscription;
pull from, pull into, merge into, merge in ~ merge; up to date ~ update sync;
ask for changes, request changes, change request ~ review; ask to look, ask to review, ask for review ~ request reviewer;
give feedback ~ review comment; keep track, keep an eye, keep me posted ~ watch subscription;
what changed, what has changed ~ compare diff commit history; what kind, what kinds, which kind, what sort ~ type;
what is inside, what is in ~ content list; most used, most popular ~ common usage; that failed, did fail ~ failed;
allowed to, able to, permitted to ~ permission access; come from, coming from, arrive from ~ referrer source; front page ~ readme page;
code owner, code owners ~ codeowner; large file, large files, big file ~ lfs large; spending limit, spending cap, spend limit ~ budget;
write in, written in ~ language; mark as read ~ read mark notification; mark as done ~ done mark;
move up, move down ~ reprioritize position; who is working, who works ~ assignee contributor;
who owns, who is the owner, who is responsible ~ owner codeowner;
who reviewed, who has reviewed, who is reviewing, has to review, need to review ~ review reviewer;
who reacted, who liked ~ reaction stargazer; who installed ~ installation; who follows, who is following ~ follower;
who watches, who is watching, who gets notified, gets notified ~ watcher subscriber; who commented ~ comment; who starred ~ stargazer;
who uses, who is using ~ usage user; who blocked, who is blocked, who is banned ~ block;
who was invited, who is invited, been invited, been asked, was invited ~ invitation; who did, who changed ~ history author activity;
personal access token, personal access tokens, personal tokens ~ pat; bill of materials, software bill, ingredient list ~ sbom;
short name, url name ~ slug; terms of use, open source licence ~ license;
ip range, ip ranges, ip address, ip addresses ~ meta address ip; force push ~ protection force; merge button, auto merge ~ merge;
line of code, lines of code ~ code line frequency; waiting for, wait for ~ pending waiting;
not answered, not yet accepted, has not accepted, not accepted ~ pending invitation;
did not work, went wrong, do not work ~ failed error; go live, went live, goes live, put live ~ deployment release;
in the background ~ async; lock down ~ protection restriction; back up ~ backup export archive; pay for ~ billing subscription plan;
hold on, put on hold, on hold ~ suspend pause`

/** Words that a query may have and that say little of what is asked for. */
export const chatter = `
thing stuff something certain specific particular single whole entire full current currently existing available actual
real different various lot bit way right now moment really actually maybe perhaps thank hi hello quickly simply exactly here today yet still
already ever again only even too very much more most other another no not longer anymore like name called everything anything nothing somewhere always never about whether if else own`
