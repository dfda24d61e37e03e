// Words that authors of tools, and those who look for a tool, use for one another. Nothing here is of one service alone.

/** What a verb does: it reads, writes or removes. A tool that does another thing than a query asks for is seldom meant. */
export type Deed = 'read' | 'write' | 'remove'

/** Verbs that stand for one another, one family a line, by what they do. A verb may be in several. */
export const verbs: Readonly<Record<Deed | 'other', string>> = {
  read: `
get read show view fetch retrieve display see print detail info information inspect describe
list all enumerate every browse
search find look query seek discover lookup locate
check verify validate test confirm
download export
count number total many
compare diff difference
status state progress
history timeline log
open read view
preview render
summarize summary overview
track trace follow
monitor watch observe`,
  write: `
create add make new open insert register generate
update edit change modify set rename adjust alter patch replace customize
update close reopen archive rename publish
sync refresh update
connect add link attach
add append
send post publish deliver submit
upload attach put
apply attach assign
write save write store put create
create publish post
move transfer relocate migrate
copy duplicate clone fork
enable activate on allow
assign give
invite invitation
schedule plan
export migrate
import load ingest
reserve book
encrypt protect
compress zip archive`,
  remove: `
delete remove drop erase destroy clear purge discard strip revoke withdraw lift
unassign remove
disconnect revoke uninstall detach
disable deactivate off
unsubscribe unfollow unwatch`,
  other: `
run launch trigger execute dispatch invoke start
repeat echo
rerun retry redo repeat redeliver
rebuild build compile
share give grant allow permit permission access
watch follow subscribe subscription notify notification
merge combine join
stop cancel abort end terminate kill halt
pause suspend
resume unsuspend continue
hide exclude exclusion ignore
prevent block forbid disallow
reply respond answer
lock freeze
restore recover undelete
approve accept review approval
reject deny decline refuse dismiss
close resolve dismiss
block ban
convert render transform
limit restrict restriction quota cap
require mandatory
pay payment
request ask
suggest propose suggestion
translate translation localize
reset renew rotate regenerate
checkout purchase buy
subscribe subscription`,
}

/** Nouns that stand for one another, one family a line. */
export const nouns = `
deploy deployment rollout
measure metric
refund reimburse
rate rating score
rank sort order
sign signature
schedule book
history log revision change audit timeline version
user person people member account colleague someone
username login handle
email mail
label tag
me my mine own authenticated
belong member membership part
latest newest recent last
pending awaiting waiting
field column property attribute
several multiple many bulk batch
item card entry row
branch ref
command script
code source
child parent
path location where
owner admin role
guest outside external
license seat subscription
allowed permitted
bug problem issue ticket
error fault failure
picture image photo
document doc page
directory folder dir
repository repo
organization org company
environment env
configuration config setting preference option
metric statistic stat usage analytic insight
traffic visit visitor view referrer
activity event
password secret credential
comment note remark
size big large
cost billing bill spending
child nested sub
asset attachment binary
link url
identity whoami
text content
maximum limit
dependency dependent
vulnerability vulnerable
license licence
markdown md
admin administrator
authentication auth login
application app
pr pull
database db
information info
address addr
invoice bill
price cost fee rate
customer client buyer
vendor supplier
purchase order
product article sku
stock inventory
delivery shipment shipping parcel package
coupon discount voucher promotion
cart basket
meeting appointment event
message chat
conversation thread discussion
channel room
phone telephone number
mobile cell sms
contact person
deal opportunity
lead prospect
employee staff worker
salary payroll wage
vacation leave holiday absence
flight plane
hotel accommodation
trip journey travel
weather forecast temperature
map direction route
place location
video clip movie
song track music
audio sound voice
language locale
container docker
cluster kubernetes k8s
pod container
volume disk storage
server host machine instance vm
metric monitor
alert alarm warning
incident outage
uptime availability
dashboard chart graph
report summary
survey form questionnaire
role permission
group team
device gadget
thermostat heating
light lamp
door lock
process job task
cron schedule
sheet spreadsheet
slide presentation
website site web
browser tab
screenshot capture
cookie session
domain dns
certificate cert ssl tls
firewall security
backup snapshot
bucket storage
queue topic
function lambda
test spec
webhook hook callback
hash digest checksum sha
avatar picture
biography bio profile
currency money
bank account
transfer transaction
card payment
loan credit
tax vat
task todo
note memo
reminder alarm
deadline due
calendar agenda
attendee participant guest
timezone zone`
