/** Another name of a listed city. */
export interface Exonym {
  readonly alias: string
  /** The name in GeoNames. */
  readonly name: string
  readonly countryCode: string
}

/*
 * GeoNames lists each city under one name, English for some and local for others; callers use both. One city a line:
 * country, listed name, other names. If a larger city has the same name, the larger one is the answer and this one is
 * among the alternatives.
 */
const lines = `
AE Abu Dhabi: Abu Zabi
AE Dubai: Dubayy
AT Vienna: Wien, Vienne, Viena, Wenen
AT Salzburg: Salzbourg
AZ Baku: Bakı
BE Antwerpen: Antwerp, Anvers
BE Brugge: Bruges
BE Brussels: Bruxelles, Brussel, Bruselas
BE Gent: Ghent, Gand
BE Leuven: Louvain
BE Liège: Luik, Lüttich
BE Namur: Namen
BG Sofia: Sofija, София
BR Rio de Janeiro: Rio
BR São Paulo: Sampa
BY Minsk: Минск
CA Québec: Quebec City
CH Basel: Basle, Bâle
CH Bern: Berne, Berna
CH Genève: Geneva, Genf, Ginevra
CH Lausanne: Losanna
CH Luzern: Lucerne
CH Zürich: Zurigo
CN Beijing: Peking, 北京
CN Chengdu: 成都
CN Chongqing: Chungking
CN Guangzhou: Canton, 广州
CN Nanjing: Nanking
CN Shanghai: 上海
CN Shenzhen: 深圳
CN Tianjin: Tientsin
CN Xi’an: Sian
CY Nicosia: Lefkosia, Lefkosa
CZ Brno: Brünn
CZ Pilsen: Plzeň
CZ Prague: Praha, Prag, Praga
DE Aachen: Aix-la-Chapelle
DE Braunschweig: Brunswick
DE Frankfurt am Main: Frankfurt, Francfort, Frankfurt Main
DE Freiburg: Freiburg im Breisgau
DE Halle (Saale): Halle
DE Hamburg: Hambourg
DE Hannover: Hanover
DE Köln: Cologne, Keulen
DE Mainz: Mayence
DE Munich: München, Monaco di Baviera
DE Nürnberg: Nuremberg
DE Regensburg: Ratisbon
DE Trier: Treves
DK Århus: Aarhus
DK Copenhagen: København, Kopenhagen, Copenhague
DZ Algiers: Alger
EE Tallinn: Reval
EG Alexandria: Al Iskandariyah
EG Cairo: Al Qahirah, Le Caire, Kairo, القاهرة
ES A Coruña: La Coruña, Corunna
ES Córdoba: Cordova
ES Donostia / San Sebastián: San Sebastian, Donostia
ES Gasteiz / Vitoria: Vitoria-Gasteiz
ES Palma: Palma de Mallorca, Majorca
ES Pamplona: Iruña
ES Sevilla: Seville, Sevilha
ES Zaragoza: Saragossa
ET Addis Ababa: Addis Abeba
FI Helsinki: Helsingfors
FI Tampere: Tammerfors
FI Turku: Åbo
FR Lyon: Lyons
FR Marseille: Marseilles
FR Nice: Nizza
FR Paris: Parigi, Париж
FR Reims: Rheims
FR Strasbourg: Strassburg
GB Cardiff: Caerdydd
GB Edinburgh: Édimbourg
GB Kingston upon Hull: Hull
GB London: Londres, Londra, Лондон, ロンドン
GB Newcastle upon Tyne: Newcastle
GE Tbilisi: Tiflis
GR Athens: Athina, Athen, Athènes, Αθήνα
GR Irákleion: Heraklion, Iraklion, Iraklio
GR Pátra: Patras
GR Piraeus: Pireas
GR Thessaloníki: Salonica, Saloniki, Thessalonica
HR Rijeka: Fiume
HR Zagreb: Agram
HU Budapest: Budapesta
IE Cork: Corcaigh
IE Dublin: Baile Atha Cliath
IL Jerusalem: Yerushalayim, Al-Quds
IL Tel Aviv: Tel Aviv-Yafo
IN Bengaluru: Bangalore
IN Chennai: Madras
IN Guwahati: Gauhati
IN Gurgaon: Gurugram
IN Cochin: Kochi
IN Kolkata: Calcutta
IN Kozhikode: Calicut
IN Mangalore: Mangaluru
IN Mumbai: Bombay
IN Mysore: Mysuru
IN Allahābād: Prayagraj
IN Puducherry: Pondicherry
IN Pune: Poona
IN Thiruvananthapuram: Trivandrum
IN Vadodara: Baroda
IN Varanasi: Benares
IN Visakhapatnam: Vizag
IQ Basrah: Basra
IR Isfahan: Esfahan
IR Mashhad: Meshed
IR Tehran: Teheran
IT Bolzano: Bozen
IT Florence: Firenze, Florenz, Florencia
IT Genoa: Genova, Gênes, Genua
IT Livorno: Leghorn
IT Milan: Milano, Mailand
IT Mantova: Mantua
IT Naples: Napoli, Neapel
IT Padova: Padua
IT Rome: Roma, Rom
IT Siracusa: Syracuse
IT Turin: Torino
IT Trento: Trent
IT Venice: Venezia, Venedig, Venise, Venecia
JP Kyoto: 京都
JP Osaka: 大阪
JP Sapporo: 札幌
JP Tokyo: 東京, Tokio
JP Yokohama: 横浜
KH Phnom Penh: Phnum Penh
KR Busan: Pusan, 부산
KR Incheon: Inchon
KR Seoul: Soul, 서울
KW Kuwait City: Kuwait, Al Kuwayt
KZ Almaty: Alma-Ata
KZ Nur-Sultan: Astana, Nursultan
LB Beirut: Beyrouth
LT Vilnius: Wilna, Vilna
LU Luxembourg: Luxemburg
LV Riga: Рига
LY Tripoli: Tarabulus
MA Casablanca: Dar el Beida
MA Fes: Fez
MA Marrakesh: Marrakech
MA Tangier: Tanger
MD Chisinau: Kishinev
MM Yangon: Rangoon
MN Ulan Bator: Ulaanbaatar
MO Macau: Macao
MT Valletta: La Valletta
MX Mexico City: Ciudad de México, México DF, CDMX
MY George Town: Penang
MY Kuala Lumpur: KL
NL The Hague: Den Haag, ’s-Gravenhage, La Haye, La Haya
NO Oslo: Christiania
NP Kathmandu: Katmandu
OM Muscat: Masqat
PA Panamá: Panama City
PH Cebu City: Cebu
PH Manila: Maynila
PL Gdańsk: Danzig
PL Gdynia: Gdingen
PL Kraków: Cracow, Krakau, Cracovia
PL Łódź: Lodsch
PL Poznań: Posen
PL Szczecin: Stettin
PL Toruń: Thorn
PL Warsaw: Warszawa, Warschau, Varsovie, Varsovia
PL Wrocław: Breslau
PT Lisbon: Lisboa, Lissabon, Lisbonne
PT Porto: Oporto
QA Doha: Ad Dawhah
RO Bucharest: București, Bukarest, Bucarest
RO Cluj-Napoca: Cluj, Klausenburg
RO Iaşi: Jassy
RS Belgrade: Beograd, Belgrad
RS Novi Sad: Neusatz
RU Kaliningrad: Königsberg
RU Moscow: Moskva, Moskau, Moscou, Moscú, Москва
RU Nizhniy Novgorod: Nizhny Novgorod
RU Rostov-na-Donu: Rostov-on-Don
RU Saint Petersburg: Sankt-Peterburg, Sankt Petersburg, Petersburg, Leningrad, Санкт-Петербург
RU Volgograd: Stalingrad
RU Yekaterinburg: Ekaterinburg
SA Jeddah: Jiddah, Jidda
SA Mecca: Makkah, Makkah al Mukarramah
SA Medina: Al Madinah
SA Riyadh: Ar Riyad, Riad
SE Göteborg: Gothenburg
SE Stockholm: Estocolmo
SG Singapore: Singapur, Singapour
SI Ljubljana: Laibach
SK Bratislava: Pressburg, Pozsony
SK Košice: Kaschau
SY Aleppo: Halab
SY Damascus: Dimashq, Damas
TH Bangkok: Krung Thep
TN Tunis: Tunisi
TR Ankara: Angora
TR Antalya: Adalia
TR Istanbul: Constantinople, Stambul
TR İzmir: Smyrna
TW Kaohsiung: Gaoxiong
TW Taipei: Taipeh, 台北
UA Kharkiv: Kharkov
UA Kyiv: Kiev, Kiew, Київ, Киев
UA Lviv: Lvov, Lemberg, Lwów
UA Odessa: Odesa
US Las Vegas: Vegas
US Los Angeles: LA, L.A.
US New Orleans: NOLA
US New York City: New York, NYC, New York NY, Nova York, Нью-Йорк, ニューヨーク
US Philadelphia: Philly
US San Francisco: SF, San Fran
US Washington, D.C.: Washington, Washington DC
UZ Tashkent: Toshkent
VA Vatican City: Vatican
VN Da Nang: Danang
VN Hanoi: Hà Nội
VN Ho Chi Minh City: Saigon, Thành phố Hồ Chí Minh
XK Pristina: Prishtina
ZA Cape Town: Kaapstad, Le Cap
ZA Pretoria: Tshwane
`

/** Names of cities in other languages, such as Munich for München. */
export function exonyms(): readonly Exonym[] {
  return lines
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [listed = '', others = ''] = line.split(': ')
      const [countryCode, name] = [listed.slice(0, 2), listed.slice(3)]
      return others.split(', ').map((alias) => ({ alias, name, countryCode }))
    })
}
